#include "storage/residence_task.h"

#include "gyre/base/ids.h"
#include "gyre/base/log.h"

namespace gyre::storage {
namespace {

// A quarter of a second where a disk gives 256 MB/s.
constexpr std::uint64_t kSliceBytes = 64 * kMiB;

unsigned long long mebibytes(std::uint64_t bytes) { return bytes / kMiB; }

}  // namespace

absl::Status ResidenceTask::run() {
  is_complete_ = directory_.keep_resident(kSliceBytes, residence_) &&
                 dead_postings_.keep_resident(kSliceBytes, residence_) &&
                 postings_.keep_resident(kSliceBytes, residence_);
  return absl::OkStatus();
}

void ResidenceTask::finish(const absl::Status& /*result*/) {
  is_done_ = is_complete_;
  if (!is_done_ || residence_.unlocked_bytes == 0) return;
  GYRE_LOG(
      kInfo,
      "%s: %llu of %llu MiB of the index are not locked in memory, so queries may wait for the "
      "disk when memory is short: %s",
      folder_.c_str(), mebibytes(residence_.unlocked_bytes), mebibytes(residence_.bytes),
      residence_.reason.c_str());
}

}  // namespace gyre::storage

#include "storage/corruption.h"

#include <cstdlib>

#include "absl/strings/cord.h"
#include "gyre/base/log.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

// A payload instead of a code: codes come from the file system, too.
constexpr char kOlderVersionPayload[] = "gyre/older-derived-version";

}  // namespace

void stop_for_corruption(std::string_view path, std::string_view damage) {
  log_line(LogLevel::kError, "%.*s: %.*s; stopped rather than serve wrong answers: %s",
           static_cast<int>(path.size()), path.data(), static_cast<int>(damage.size()),
           damage.data(), kRebuildCure);
  // Not exit(): destructors would wait for worker threads, and nothing is left to be saved.
  std::_Exit(EXIT_FAILURE);
}

absl::Status derived_version_error(std::string_view path, std::uint32_t found,
                                   std::uint32_t known) {
  absl::Status status =
      absl::DataLossError(concat(path, " has format ", found, ", and this gyre knows format ",
                                 known, " only; ", kRebuildCure));
  if (found > 0 && found < known) status.SetPayload(kOlderVersionPayload, absl::Cord());
  return status;
}

bool is_older_derived_version(const absl::Status& status) {
  return status.GetPayload(kOlderVersionPayload).has_value();
}

}  // namespace gyre::storage

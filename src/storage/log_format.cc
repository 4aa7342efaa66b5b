#include "storage/log_format.h"

#include <algorithm>
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'G', 'Y', 'R', 'E', 'L', 'O', 'G', 0};
constexpr std::size_t kCrcOffset = 60;

}  // namespace

SegmentHeaderBytes encode_segment_header(const SegmentHeader& header) {
  SegmentHeaderBytes bytes{};
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  store_u32(&bytes[8], kLogVersion);
  store_u32(&bytes[12], header.number);
  store_u64(&bytes[16], header.id);
  store_u64(&bytes[24], header.first_record);
  store_u32(&bytes[kCrcOffset], crc32c(0, {bytes.data(), kCrcOffset}));
  return bytes;
}

absl::StatusOr<SegmentHeader> decode_segment_header(const SegmentHeaderBytes& bytes) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
    return absl::DataLossError("it does not begin like a log segment");
  }
  // Before the checksum: a later version may keep that elsewhere.
  if (const std::uint32_t version = load_u32(&bytes[8]); version != kLogVersion) {
    return absl::FailedPreconditionError(concat(
        "it has log format ", version, ", and this gyre knows format ", kLogVersion, " only"));
  }
  if (load_u32(&bytes[kCrcOffset]) != crc32c(0, {bytes.data(), kCrcOffset})) {
    return absl::DataLossError("its header fails the checksum");
  }
  return SegmentHeader{load_u32(&bytes[12]), load_u64(&bytes[16]), load_u64(&bytes[24])};
}

}  // namespace gyre::storage

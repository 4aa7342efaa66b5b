#include "storage/log_format.h"

#include <algorithm>
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::array<std::uint8_t, 8> kMagic = {'G', 'Y', 'R', 'E', 'L', 'O', 'G', 0};
constexpr std::size_t kCrcOffset = 60;
constexpr std::uint32_t kFlagCompacted = 1;

// Offsets that no writer makes; a sound checksum says nothing of who computed it.
bool has_sane_offsets(const SegmentHeader& header) {
  return header.end_as_written >= kSegmentHeaderBytes &&
         header.records_end >= kSegmentHeaderBytes && header.records_end % kRecordAlignment == 0;
}

}  // namespace

SegmentHeaderBytes encode_segment_header(const SegmentHeader& header) {
  SegmentHeaderBytes bytes{};
  std::copy(kMagic.begin(), kMagic.end(), bytes.begin());
  store_u32(&bytes[8], header.version);
  store_u32(&bytes[12], header.number);
  store_u64(&bytes[16], header.id);
  store_u64(&bytes[24], header.first_record);
  if (header.version > kLogVersionWithoutOwner) {
    store_u64(&bytes[32], header.owner.store);
    store_u32(&bytes[40], header.owner.shard);
    store_u32(&bytes[44], header.is_compacted() ? kFlagCompacted : 0);
    store_u32(&bytes[48], header.end_as_written);
    store_u32(&bytes[52], header.records_end);
    store_u32(&bytes[56], header.event_count);
  }
  store_u32(&bytes[kCrcOffset], crc32c(0, {bytes.data(), kCrcOffset}));
  return bytes;
}

absl::StatusOr<SegmentHeader> decode_segment_header(const SegmentHeaderBytes& bytes) {
  if (!std::equal(kMagic.begin(), kMagic.end(), bytes.begin())) {
    return absl::DataLossError("it does not begin like a log segment");
  }
  // Before the checksum: a later version may keep that elsewhere. What no version will be is
  // damage.
  const std::uint32_t version = load_u32(&bytes[8]);
  if (version == 0 || version > kLogVersionMax) {
    return absl::DataLossError("its header has an impossible version");
  }
  if (version > kLogVersion) {
    return absl::FailedPreconditionError(concat("it has log format ", version,
                                                ", and this gyre knows formats up to ", kLogVersion,
                                                "; run the newer gyre that wrote it"));
  }
  if (load_u32(&bytes[kCrcOffset]) != crc32c(0, {bytes.data(), kCrcOffset})) {
    return absl::DataLossError("its header fails the checksum");
  }
  SegmentHeader header{load_u32(&bytes[12]), load_u64(&bytes[16]), load_u64(&bytes[24])};
  header.version = version;
  if (version == kLogVersionWithoutOwner) return header;
  header.owner = {load_u64(&bytes[32]), load_u32(&bytes[40])};
  const std::uint32_t flags = load_u32(&bytes[44]);
  if (flags > kFlagCompacted) return absl::DataLossError("its header has unknown flags");
  if (flags == 0) return header;
  header.end_as_written = load_u32(&bytes[48]);
  header.records_end = load_u32(&bytes[52]);
  header.event_count = load_u32(&bytes[56]);
  if (!has_sane_offsets(header)) return absl::DataLossError("its header has impossible offsets");
  return header;
}

}  // namespace gyre::storage

#include "storage/offset_table.h"

#include <algorithm>

#include "gyre/base/assert.h"
#include "storage/crc32c.h"
#include "storage/little_endian.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kPairBytes = 8;
constexpr std::uint32_t kPairsPerFence = 512;  // A page of the file.
constexpr std::uint64_t kCrcBytes = 8;         // Of the pairs, and of the fence.

std::uint64_t fence_count(std::uint64_t pairs) {
  return (pairs + kPairsPerFence - 1) / kPairsPerFence;
}

// The fence's checksum continues from the pairs', so that it vouches for that number, too.
std::uint32_t fence_crc(std::uint32_t pairs_crc, ByteSpan fence) {
  return crc32c(pairs_crc, fence);
}

}  // namespace

std::uint64_t OffsetTable::bytes_of(std::uint32_t count) {
  return count * kPairBytes + fence_count(count) * sizeof(std::uint32_t) + kCrcBytes;
}

std::vector<std::uint8_t> OffsetTable::encode(const std::vector<OffsetPair>& pairs,
                                              std::uint32_t seed) {
  const auto count = static_cast<std::uint32_t>(pairs.size());
  std::vector<std::uint8_t> bytes(bytes_of(count));
  std::uint8_t* at = bytes.data();
  for (const OffsetPair& pair : pairs) {
    store_u32(at, pair.as_written);
    store_u32(at + 4, pair.in_file);
    at += kPairBytes;
  }
  const std::uint8_t* const fence = at;
  for (std::uint32_t i = 0; i < count; i += kPairsPerFence) {
    store_u32(at, pairs[i].as_written);
    at += sizeof(std::uint32_t);
  }
  const std::uint32_t pairs_crc = crc32c(seed, {bytes.data(), count * kPairBytes});
  store_u32(at, pairs_crc);
  store_u32(at + 4, fence_crc(pairs_crc, {fence, static_cast<std::size_t>(at - fence)}));
  return bytes;
}

absl::StatusOr<OffsetTable> OffsetTable::open(ByteSpan segment, const SegmentHeader& header) {
  const std::uint32_t count = header.event_count;
  if (segment.size() != header.records_end + bytes_of(count)) {
    return absl::DataLossError("its size is not what its header says");
  }
  const std::uint8_t* const pairs = segment.data() + header.records_end;
  const std::uint8_t* const fence = pairs + count * kPairBytes;
  const ByteSpan fence_bytes(fence, fence_count(count) * sizeof(std::uint32_t));
  OffsetTable table(pairs, count, record_seed(header.id));
  table.pairs_crc_ = load_u32(fence + fence_bytes.size());
  if (load_u32(fence + fence_bytes.size() + 4) != fence_crc(table.pairs_crc_, fence_bytes)) {
    return absl::DataLossError("its offset table fails the checksum");
  }
  table.fence_.resize(fence_count(count));
  for (std::size_t i = 0; i < table.fence_.size(); ++i) {
    table.fence_[i] = load_u32(fence + i * sizeof(std::uint32_t));
  }
  return table;
}

OffsetPair OffsetTable::pair(std::uint32_t i) const {
  GYRE_ASSERT_CMP(i, <, count_);
  const std::uint8_t* const at = pairs_ + std::uint64_t{i} * kPairBytes;
  return {load_u32(at), load_u32(at + 4)};
}

std::optional<std::uint32_t> OffsetTable::find(std::uint32_t as_written) const {
  const auto after = std::upper_bound(fence_.begin(), fence_.end(), as_written);
  if (after == fence_.begin()) return std::nullopt;
  std::uint32_t low = static_cast<std::uint32_t>(after - fence_.begin() - 1) * kPairsPerFence;
  std::uint32_t high = std::min(low + kPairsPerFence, count_);
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    const OffsetPair found = pair(middle);
    if (found.as_written == as_written) return found.in_file;
    if (found.as_written < as_written) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return std::nullopt;
}

bool OffsetTable::is_sound() const {
  return crc32c(seed_, {pairs_, std::uint64_t{count_} * kPairBytes}) == pairs_crc_;
}

}  // namespace gyre::storage

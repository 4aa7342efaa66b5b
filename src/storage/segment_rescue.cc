#include "storage/segment_rescue.h"

#include <array>

#include "storage/little_endian.h"

namespace gyre::storage {
namespace {

// CRC32C, one byte a step: all of it is invertible, since the highest byte of an entry tells which
// entry it is.
struct Tables {
  std::array<std::uint32_t, 256> forward{};
  std::array<std::uint8_t, 256> index_by_high_byte{};
};

constexpr Tables make_tables() {
  Tables tables;
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82f63b78u : 0u);
    tables.forward[i] = value;
    tables.index_by_high_byte[value >> 24] = static_cast<std::uint8_t>(i);
  }
  return tables;
}
constexpr Tables kTables = make_tables();

// The checksum that, continued over `bytes`, gives `crc`.
std::uint32_t crc32c_before(std::uint32_t crc, ByteSpan bytes) {
  std::uint32_t state = ~crc;
  for (std::size_t i = bytes.size(); i > 0; --i) {
    const std::uint8_t index = kTables.index_by_high_byte[state >> 24];
    state = (state ^ kTables.forward[index]) << 8 | (index ^ bytes[i - 1]);
  }
  return ~state;
}

// Any id with this seed: four zeros, and the four bytes that lead from there to it.
std::uint64_t id_of_seed(std::uint32_t seed) {
  const std::uint8_t zeros[4] = {};
  const std::uint32_t behind_zeros = crc32c(0, zeros);
  const std::uint32_t wanted = crc32c_before(seed, zeros);
  return std::uint64_t{behind_zeros ^ wanted} << 32;
}

// Whether something that may be a record stands at `at`.
bool may_be_record(ByteSpan segment, std::uint64_t at) {
  if (segment.size() < at + kRecordHeaderBytes) return false;
  const RecordHeader header = decode_record_header(segment.data() + at);
  return header.type != 0 && record_bytes(header.payload_bytes) <= segment.size() - at;
}

// The seed under which the record at `at` is valid.
std::uint32_t seed_of_record(ByteSpan segment, std::uint64_t at) {
  const RecordHeader header = decode_record_header(segment.data() + at);
  const std::uint64_t bytes = record_bytes(header.payload_bytes);
  return crc32c_before(header.crc, segment.subspan(at + 4, bytes - 4));
}

std::optional<std::uint32_t> find_seed(ByteSpan segment) {
  for (std::uint64_t at = kSegmentHeaderBytes; at < segment.size(); at += kRecordAlignment) {
    if (!may_be_record(segment, at)) continue;
    const RecordHeader header = decode_record_header(segment.data() + at);
    const std::uint64_t next = at + record_bytes(header.payload_bytes);
    // The cheap test first: indices of neighbours differ by little, unless a gap stands between.
    if (!may_be_record(segment, next)) continue;
    if (decode_record_header(segment.data() + next).index < header.index) continue;
    const std::uint32_t seed = seed_of_record(segment, at);
    if (seed_of_record(segment, next) == seed) return seed;
  }
  return std::nullopt;
}

// In a compacted segment records name the offset that they had as first written, which is never
// before the place where they stand; in any other, an offset that was synced before them.
void complete_if_compacted(ByteSpan segment, std::uint32_t seed, SegmentHeader& header) {
  std::uint64_t records_end = kSegmentHeaderBytes;
  std::uint32_t last_synced = 0;
  bool is_compacted = false;
  for (std::uint64_t at = kSegmentHeaderBytes; at < segment.size();) {
    const bool is_valid = may_be_record(segment, at) && seed_of_record(segment, at) == seed;
    if (!is_valid) {
      at += kRecordAlignment;
      continue;
    }
    const RecordHeader record = decode_record_header(segment.data() + at);
    is_compacted = is_compacted || record.synced > at;
    last_synced = record.synced;
    at += record_bytes(record.payload_bytes);
    records_end = at;
  }
  if (!is_compacted) return;
  header.records_end = static_cast<std::uint32_t>(records_end);
  header.end_as_written = last_synced + kRecordAlignment;
}

}  // namespace

std::optional<SegmentHeader> rescue_segment_header(ByteSpan segment, std::uint32_t number,
                                                   std::uint64_t first_record) {
  const auto seed = find_seed(segment);
  if (!seed) return std::nullopt;
  SegmentHeader header{number, id_of_seed(*seed), first_record};
  complete_if_compacted(segment, *seed, header);
  return header;
}

}  // namespace gyre::storage

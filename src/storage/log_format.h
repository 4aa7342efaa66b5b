// The bytes of a log segment: encoding and decoding of its header and of record headers.
// FORMAT.md shows them as a picture.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "gyre/base/bytes.h"
#include "gyre/storage/format.h"
#include "gyre/storage/manifest.h"
#include "storage/crc32c.h"
#include "storage/little_endian.h"

namespace gyre::storage {

inline constexpr std::uint32_t kLogVersion = 2;
inline constexpr std::uint32_t kLogVersionWithoutOwner = 1;  // Still read; it names no owner.
inline constexpr std::uint32_t kLogVersionMax = 255;         // That there will ever be.
inline constexpr std::uint32_t kSegmentHeaderBytes = 64;
inline constexpr std::uint32_t kRecordHeaderBytes = 16;
inline constexpr std::uint32_t kRecordAlignment = 8;
inline constexpr std::uint32_t kPayloadBytesMax = (1u << 24) - 1;
inline constexpr std::uint32_t kFirstSegment = 1;

struct SegmentHeader {
  std::uint32_t number = 0;
  std::uint64_t id = 0;            // Random; seeds the checksums of the segment's records.
  std::uint64_t first_record = 0;  // Number of the first record, there or to come.
  std::uint32_t version = kLogVersion;
  ShardIdentity owner;
  // Of a compacted segment; all 0 in an ordinary one.
  std::uint32_t end_as_written = 0;  // Where the segment ended before it was ever compacted.
  std::uint32_t records_end = 0;     // Where the offset table begins in this file.
  std::uint32_t event_count = 0;     // Entries of the table.

  [[nodiscard]] bool is_compacted() const { return end_as_written != 0; }
};

using SegmentHeaderBytes = std::array<std::uint8_t, kSegmentHeaderBytes>;
[[nodiscard]] SegmentHeaderBytes encode_segment_header(const SegmentHeader& header);
// The message says what is wrong, without the file's name.
[[nodiscard]] absl::StatusOr<SegmentHeader> decode_segment_header(const SegmentHeaderBytes& bytes);

// No RecordType: the end of a clean shutdown, which says that all before it was durable. Not
// counted, not replayed; its index is that of the record that follows.
inline constexpr std::uint8_t kMarkType = 0xff;

struct RecordHeader {
  std::uint32_t crc = 0;  // Of everything behind it, padding included.
  std::uint32_t payload_bytes = 0;
  std::uint8_t type = 0;    // 0 is no record: space that was reserved and not written.
  std::uint32_t index = 0;  // Counts the segment's records from 0.
  // How far the segment was durable when the record was made: bytes below this cannot be missing
  // because of a power failure that the record survived. In a compacted segment, which was never
  // torn, it is the offset that the record had as first written.
  std::uint32_t synced = 0;
};

// The payload of kGap.
struct LogGap {
  std::uint32_t records = 0;
  std::uint32_t rows = 0;
};
inline constexpr std::uint32_t kGapPayloadBytes = 8;
[[nodiscard]] inline LogGap decode_gap(const std::uint8_t* payload) {
  return {load_u32(payload), load_u32(payload + 4)};
}

// What a record takes in the file.
[[nodiscard]] constexpr std::uint64_t record_bytes(std::uint64_t payload_bytes) {
  return (kRecordHeaderBytes + payload_bytes + kRecordAlignment - 1) &
         ~std::uint64_t{kRecordAlignment - 1};
}

[[nodiscard]] inline RecordHeader decode_record_header(const std::uint8_t* at) {
  const std::uint32_t length_and_type = load_u32(at + 4);
  return {load_u32(at), length_and_type & kPayloadBytesMax,
          static_cast<std::uint8_t>(length_and_type >> 24), load_u32(at + 8), load_u32(at + 12)};
}

// All but the checksum, which seal_record() puts in when the payload stands behind it.
inline void encode_record_header(std::uint8_t* at, const RecordHeader& header) {
  store_u32(at + 4, header.payload_bytes | std::uint32_t{header.type} << 24);
  store_u32(at + 8, header.index);
  store_u32(at + 12, header.synced);
}

// Where the checksums of a segment's records start from. Records of another segment that stand in
// reused space never validate.
[[nodiscard]] inline std::uint32_t record_seed(std::uint64_t segment_id) {
  std::uint8_t bytes[8];
  store_u64(bytes, segment_id);
  return crc32c(0, bytes);
}

// `bytes`: record_bytes() of the record at `at`.
[[nodiscard]] inline std::uint32_t record_crc(std::uint32_t seed, const std::uint8_t* at,
                                              std::uint64_t bytes) {
  return crc32c(seed, {at + 4, bytes - 4});
}

// The payload of the record that `bytes` begin with; nothing if it is not whole or not sound.
[[nodiscard]] inline std::optional<ByteSpan> check_record(
    std::uint32_t seed, ByteSpan bytes, std::optional<std::uint32_t> named_offset = std::nullopt) {
  if (bytes.size() < kRecordHeaderBytes) return std::nullopt;
  const RecordHeader header = decode_record_header(bytes.data());
  const std::uint64_t size = record_bytes(header.payload_bytes);
  if (header.type == 0 || size > bytes.size()) return std::nullopt;
  if (named_offset && header.synced != *named_offset) return std::nullopt;
  if (record_crc(seed, bytes.data(), size) != header.crc) return std::nullopt;
  return bytes.subspan(kRecordHeaderBytes, header.payload_bytes);
}

inline void seal_record(std::uint32_t seed, std::uint8_t* at, std::uint64_t bytes) {
  store_u32(at, record_crc(seed, at, bytes));
}

}  // namespace gyre::storage

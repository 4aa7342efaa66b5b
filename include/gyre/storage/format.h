// Numbers that stand on disk, shared by log, directory and runs. FORMAT.md (src/storage) shows the
// bytes.
#pragma once

#include <cstdint>

namespace gyre::storage {

// An event's number within its shard, in order of arrival, from 0; never reused, never changed.
using Sequence = std::uint32_t;
inline constexpr Sequence kSequenceMax = 0xffff'fff0;

// A place in the log: segment number in the upper half, byte offset in the lower. Ordered as
// written.
struct LogPosition {
  std::uint64_t value = 0;

  [[nodiscard]] static constexpr LogPosition at(std::uint32_t segment, std::uint32_t offset) {
    return {std::uint64_t{segment} << 32 | offset};
  }
  [[nodiscard]] constexpr std::uint32_t segment() const {
    return static_cast<std::uint32_t>(value >> 32);
  }
  [[nodiscard]] constexpr std::uint32_t offset() const { return static_cast<std::uint32_t>(value); }
  friend constexpr auto operator<=>(LogPosition, LogPosition) = default;
};

// 0 and 255 are the log's own.
enum class RecordType : std::uint8_t {
  // An event, and the sequences it makes dead (replaced or deleted by it), in one record so that
  // both happen or neither. Payload: u32 retired_count, u32 reserved, u32 retired[], padding to 8,
  // packed event.
  kEvent = 1,
  // Events made dead by themselves. Payload: u32 reason (RetireReason), u32 count, u32 retired[].
  kRetire = 2,
  // A deletion or vanish request that lives in another shard, for its effects here (gift wraps).
  // Payload as kEvent; the event gets no sequence and is never served from here.
  kForeignRequest = 3,
  // In compacted segments only. What was dropped: u32 records, u32 rows. So many numbers of records
  // and sequences of events are passed over.
  kGap = 4,
  // What is left of a dead event that goes on refusing older versions of its address:
  // u32 retired_count, u32 0, u32 retired[], padding to 8, u64 address term, u64 created_at,
  // u64 id_prefix, pubkey.
  kAddressMark = 5,
};

enum class RetireReason : std::uint32_t {
  kExpired = 1,
  kDeleted = 2,
  kVanished = 3,
  kOperator = 4,
  kSuperseded = 5,  // By a newer version of the address. Written by compaction only.
};

}  // namespace gyre::storage

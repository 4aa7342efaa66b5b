// The payloads of log records (storage/FORMAT.md, section Records), encoded and decoded.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

// kEvent and kForeignRequest: an event and what it makes dead.
//
//     u32 retired_count | u32 0 | u32 retired[retired_count], padded to 8 | packed event
struct EventRecord {
  std::vector<Sequence> retired;
  nostr::PackedEventView event;  // Points into the payload.
};

// The parts to append, in order. They point into `head` and `event`; `head` is the caller's
// scratch.
using EventRecordHead = std::vector<std::uint8_t>;
[[nodiscard]] std::array<ByteSpan, 2> encode_event_record(std::span<const Sequence> retired,
                                                          nostr::PackedEventView event,
                                                          EventRecordHead& head);
// Nothing if the payload is malformed.
[[nodiscard]] std::optional<EventRecord> decode_event_record(ByteSpan payload);
// The event of a record whose checksum was right; null if it is none all the same.
[[nodiscard]] nostr::PackedEventView event_of_record(ByteSpan payload);

// kRetire: u32 reason | u32 count | u32 retired[count]
struct RetireRecord {
  RetireReason reason;
  std::vector<Sequence> retired;
};
[[nodiscard]] constexpr std::uint64_t retire_record_bytes(std::uint64_t count) {
  return 8 + count * sizeof(Sequence);
}
[[nodiscard]] std::vector<std::uint8_t> encode_retire_record(const RetireRecord& record);
[[nodiscard]] std::optional<RetireRecord> decode_retire_record(ByteSpan payload);

// kAddressMark: what stays of a dead version of an address that no newer one has superseded.
//
//     u32 retired_count | u32 0 | u32 retired[retired_count], padded to 8 |
//     u64 address term | u64 created_at | u64 id_prefix | pubkey
struct AddressMarkRecord {
  std::vector<Sequence> retired;
  std::uint64_t address = 0;  // Term; by the store's key.
  std::uint64_t created_at = 0;
  std::uint64_t id_prefix = 0;
  Bytes32 pubkey;
};
[[nodiscard]] std::vector<std::uint8_t> encode_address_mark(const AddressMarkRecord& record);
[[nodiscard]] std::optional<AddressMarkRecord> decode_address_mark(ByteSpan payload);

}  // namespace gyre::storage

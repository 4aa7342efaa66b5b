#include "storage/record.h"

#include <algorithm>
#include <cstring>

#include "storage/little_endian.h"

namespace gyre::storage {
namespace {

constexpr std::size_t kHeadBytes = 8;        // Two u32.
constexpr std::size_t kMarkBytes = 24 + 32;  // Three u64 and a key.

std::uint32_t read_u32(const std::uint8_t* bytes) {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

std::size_t padded_list_bytes(std::uint32_t count) {
  return (std::size_t{count} * sizeof(Sequence) + 7) & ~std::size_t{7};
}

void append_u32(std::vector<std::uint8_t>& out, std::uint32_t value) {
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&value);
  out.insert(out.end(), bytes, bytes + sizeof value);
}

std::vector<Sequence> read_sequences(const std::uint8_t* bytes, std::uint32_t count) {
  std::vector<Sequence> sequences(count);
  if (count != 0) std::memcpy(sequences.data(), bytes, std::size_t{count} * sizeof(Sequence));
  return sequences;
}

}  // namespace

std::array<ByteSpan, 2> encode_event_record(std::span<const Sequence> retired,
                                            nostr::PackedEventView event, EventRecordHead& head) {
  const auto count = static_cast<std::uint32_t>(retired.size());
  head.assign(kHeadBytes + padded_list_bytes(count), 0);
  std::memcpy(head.data(), &count, sizeof count);
  if (count != 0) std::memcpy(head.data() + kHeadBytes, retired.data(), retired.size_bytes());
  return {ByteSpan(head), event.bytes()};
}

std::optional<EventRecord> decode_event_record(ByteSpan payload) {
  if (payload.size() < kHeadBytes) return std::nullopt;
  const std::uint32_t count = read_u32(payload.data());
  const std::size_t event_offset = kHeadBytes + padded_list_bytes(count);
  if (payload.size() < event_offset) return std::nullopt;
  const auto event = nostr::PackedEventView::check(payload.subspan(event_offset));
  if (!event) return std::nullopt;
  return EventRecord{read_sequences(payload.data() + kHeadBytes, count), *event};
}

nostr::PackedEventView event_of_record(ByteSpan payload) {
  const std::size_t event_offset = payload.size() < kHeadBytes
                                       ? payload.size()
                                       : kHeadBytes + padded_list_bytes(read_u32(payload.data()));
  if (event_offset >= payload.size()) return {};
  const auto event = nostr::PackedEventView::check_bounds(payload.subspan(event_offset));
  return event.value_or(nostr::PackedEventView());
}

std::vector<std::uint8_t> encode_retire_record(const RetireRecord& record) {
  std::vector<std::uint8_t> bytes;
  bytes.reserve(kHeadBytes + record.retired.size() * sizeof(Sequence));
  append_u32(bytes, static_cast<std::uint32_t>(record.reason));
  append_u32(bytes, static_cast<std::uint32_t>(record.retired.size()));
  for (const Sequence sequence : record.retired) append_u32(bytes, sequence);
  return bytes;
}

std::optional<RetireRecord> decode_retire_record(ByteSpan payload) {
  if (payload.size() < kHeadBytes) return std::nullopt;
  const std::uint32_t reason = read_u32(payload.data());
  const std::uint32_t count = read_u32(payload.data() + 4);
  if (reason < 1 || reason > static_cast<std::uint32_t>(RetireReason::kSuperseded)) {
    return std::nullopt;
  }
  if (payload.size() != kHeadBytes + std::size_t{count} * sizeof(Sequence)) return std::nullopt;
  return RetireRecord{static_cast<RetireReason>(reason),
                      read_sequences(payload.data() + kHeadBytes, count)};
}

std::vector<std::uint8_t> encode_address_mark(const AddressMarkRecord& record) {
  const auto count = static_cast<std::uint32_t>(record.retired.size());
  const std::size_t mark = kHeadBytes + padded_list_bytes(count);
  std::vector<std::uint8_t> bytes(mark + kMarkBytes, 0);
  std::memcpy(bytes.data(), &count, sizeof count);
  if (count != 0) {
    std::memcpy(bytes.data() + kHeadBytes, record.retired.data(), count * sizeof(Sequence));
  }
  store_u64(&bytes[mark], record.address);
  store_u64(&bytes[mark + 8], record.created_at);
  store_u64(&bytes[mark + 16], record.id_prefix);
  std::copy(record.pubkey.bytes.begin(), record.pubkey.bytes.end(), &bytes[mark + 24]);
  return bytes;
}

std::optional<AddressMarkRecord> decode_address_mark(ByteSpan payload) {
  if (payload.size() < kHeadBytes) return std::nullopt;
  const std::uint32_t count = read_u32(payload.data());
  const std::size_t mark = kHeadBytes + padded_list_bytes(count);
  if (payload.size() != mark + kMarkBytes) return std::nullopt;
  AddressMarkRecord record;
  record.retired = read_sequences(payload.data() + kHeadBytes, count);
  record.address = load_u64(&payload[mark]);
  record.created_at = load_u64(&payload[mark + 8]);
  record.id_prefix = load_u64(&payload[mark + 16]);
  std::copy_n(&payload[mark + 24], record.pubkey.bytes.size(), record.pubkey.bytes.begin());
  return record;
}

}  // namespace gyre::storage

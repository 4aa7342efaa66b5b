// FilterReader: one filter object of a JSON text to a compiled Filter (nips.md 01-F).
#pragma once

#include <cstdint>
#include <string_view>

#include "gyre/nostr/client_message.h"
#include "gyre/nostr/filter.h"
#include "nostr/fault.h"
#include "nostr/json_number.h"
#include "nostr/ondemand.h"

namespace gyre::nostr {

class FilterReader {
 public:
  explicit FilterReader(const MessageLimits& limits) : limits_(limits) {}

  // `filter` must be fresh; after a fault it is to be thrown away.
  [[nodiscard]] Fault read(ondemand::value& value, const TextContext& context, Filter& filter);
  [[nodiscard]] Fault read(ondemand::object& object, const TextContext& context, Filter& filter);

 private:
  enum Member : std::uint8_t { kIds, kAuthors, kKinds, kSince, kUntil, kLimit, kTag, kUnknown };

  [[nodiscard]] static Member member_of(std::string_view name);
  [[nodiscard]] Fault read_field(ondemand::field& field, Filter& filter);
  [[nodiscard]] Fault read_keys(ondemand::value& value, Filter& filter, std::vector<Bytes32>& keys);
  [[nodiscard]] Fault read_kinds(ondemand::value& value, Filter& filter);
  [[nodiscard]] Fault read_tag(char letter, ondemand::value& value, Filter& filter);
  [[nodiscard]] Fault read_tag_value(char letter, const char* raw, TagCondition& condition) const;
  [[nodiscard]] Fault read_time(Member member, ondemand::value& value, Filter& filter);
  [[nodiscard]] Fault read_limit(ondemand::value& value, Filter& filter);

  MessageLimits limits_;

  // Of the filter being read.
  TextContext context_{};
  std::uint32_t seen_ = 0;  // Bit for each Member but kTag, where Filter::tags tells.
};

}  // namespace gyre::nostr

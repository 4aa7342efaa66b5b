// What a relay says, taken apart. Knows the exact form in which gyre writes its messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace gyre::test {

struct RelayMessageText {
  enum class Type : std::uint8_t { kEvent, kOk, kEose, kClosed, kNotice, kAuth, kCount };
  Type type = Type::kNotice;
  std::string_view id;     // Of the subscription, query or event.
  std::string_view event;  // kEvent: its JSON.
  std::string_view text;   // kOk, kClosed, kNotice; kAuth: the challenge; kEose: the hint.
  bool is_accepted = false;
  std::uint64_t count = 0;

  // The word before the colon of `text`.
  [[nodiscard]] std::string_view prefix() const { return text.substr(0, text.find(':')); }
};

// Points into `message`. Nothing if it is none of these.
[[nodiscard]] std::optional<RelayMessageText> read_relay_message(std::string_view message);

}  // namespace gyre::test

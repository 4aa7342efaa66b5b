// What a relay's message says, as far as a load generator must know. Blanks between tokens are
// allowed, so that relays of other make can be measured too.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::load {

enum class AnswerKind : std::uint8_t { kOk, kEvent, kEose, kClosed, kOther };

struct Answer {
  AnswerKind kind = AnswerKind::kOther;
  std::string_view subscription;  // kEvent, kEose
  std::string_view id;            // kOk: of the event. kEvent: of the event carried.
  bool is_accepted = false;       // kOk
  std::string_view word;          // kOk: the text up to its first colon, or empty.
};

// Views into `text`. Ends the program if an OK or EVENT is malformed.
[[nodiscard]] Answer read_answer(std::string_view text);

}  // namespace gyre::load

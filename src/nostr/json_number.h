// Numbers of a JSON text, judged by their characters and never as floating point: an id is computed
// over digits, so 1.0 and 1e0 are not the integer 1 (nips.md 01-J08).
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre::nostr {

struct IntegerToken {
  bool is_integer = false;   // -?(0|[1-9][0-9]*) and not -0, of any length.
  bool is_negative = false;  //
  bool fits = false;         // magnitude holds the whole of it (less than 2^64).
  std::uint64_t magnitude = 0;
  std::string_view digits;  // Without the sign.
};

// `token` begins with the number and may have white space behind it, but nothing else.
[[nodiscard]] IntegerToken parse_integer(std::string_view token);

// End of the number that begins at `from`, or nullptr if none does (RFC 8259 section 6).
[[nodiscard]] const char* skip_number(const char* from, const char* text_end);

}  // namespace gyre::nostr

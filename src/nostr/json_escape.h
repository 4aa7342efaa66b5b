// The escapes \uXXXX of a JSON string (RFC 8259 section 7), surrogate pairs included.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nostr/json_string.h"

namespace gyre::nostr {

struct UnicodeEscape {
  StringVerdict verdict;
  std::uint32_t code_point;  // If kGood.
  std::uint32_t bytes;       // Of the escape, or of both of a pair; unless kBroken.
};

// `in` stands at \u. Reads one character after the other and stops at the first that does not
// belong there, so it never reads past the quote that ends the string, and at most 12 bytes.
[[nodiscard]] UnicodeEscape read_unicode_escape(const char* in);

// Writes a code point as UTF-8; at most 4 bytes.
[[nodiscard]] char* write_utf8(std::uint32_t code_point, char* out);

// What the letter behind a backslash stands for, or NUL if it is none of the short escapes.
[[nodiscard]] constexpr char short_escape(char letter) {
  switch (letter) {
    case '"':
    case '\\':
    case '/': return letter;
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return '\0';
  }
}

// The letter that stands for `c` behind a backslash canonically, or NUL if there is none.
[[nodiscard]] constexpr char short_letter(char c) {
  switch (c) {
    case '\b': return 'b';
    case '\f': return 'f';
    case '\n': return 'n';
    case '\r': return 'r';
    case '\t': return 't';
    case '"':
    case '\\': return c;
    default: return '\0';
  }
}

}  // namespace gyre::nostr

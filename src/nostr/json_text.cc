#include "gyre/nostr/json_text.h"

#include <simdjson.h>

#include <cstdint>

#include "nostr/json_block.h"
#include "nostr/json_string.h"

namespace gyre::nostr {
namespace {

bool stands_for_itself(char c) {
  return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
}

// Index of the first character at or behind `from` that must be escaped.
std::size_t find_special(std::string_view text, std::size_t from) {
  char ignored[kBlockBytes];
  while (text.size() - from >= kBlockBytes) {
    const std::size_t plain = copy_block(text.data() + from, ignored);
    from += plain;
    if (plain < kBlockBytes) return from;
  }
  while (from < text.size() && stands_for_itself(text[from])) ++from;
  return from;
}

char decode_short_escape(char letter) {
  switch (letter) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    default: return letter;
  }
}

char decode_hex_digit(char c) { return static_cast<char>(c <= '9' ? c - '0' : c - 'a' + 10); }

}  // namespace

void append_escaped(std::string_view text, std::string& out) {
  std::size_t from = 0;
  while (from < text.size()) {
    const std::size_t special = find_special(text, from);
    out.append(text, from, special - from);
    if (special == text.size()) return;
    char escaped[6];
    const char* const end =
        write_canonical_ascii(static_cast<unsigned char>(text[special]), escaped);
    out.append(escaped, static_cast<std::size_t>(end - escaped));
    from = special + 1;
  }
}

std::string unescape(std::string_view escaped) {
  std::string text;
  text.reserve(escaped.size());
  std::size_t from = 0;
  for (;;) {
    const std::size_t backslash = escaped.find('\\', from);
    text.append(escaped, from, backslash - from);
    if (backslash == std::string_view::npos || backslash + 1 >= escaped.size()) return text;
    if (escaped[backslash + 1] == 'u' && backslash + 6 <= escaped.size()) {
      // Canonically only U+0000 to U+001F are written like this.
      text.push_back(static_cast<char>(decode_hex_digit(escaped[backslash + 4]) << 4 |
                                       decode_hex_digit(escaped[backslash + 5])));
      from = backslash + 6;
    } else {
      text.push_back(decode_short_escape(escaped[backslash + 1]));
      from = backslash + 2;
    }
  }
}

std::size_t code_point_count(std::string_view text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xc0) != 0x80 ? 1 : 0;
  return count;
}

bool is_valid_utf8(std::string_view text) {
  return simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace gyre::nostr

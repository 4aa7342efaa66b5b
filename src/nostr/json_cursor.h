// JsonCursor: reads a JSON text from front to back, strictly (RFC 8259), taking what the caller
// expects next. What the library's decoders stand on: it needs no padding behind the text, builds
// nothing and allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/json_text.h"
#include "nostr/json_number.h"

namespace gyre::nostr {

// Containers inside each other, the outermost included (nips.md 01-J03).
inline constexpr std::uint32_t kJsonLevelsMax = 16;

// A string between its quotes. Holds no raw control character; its escapes are not checked yet.
struct RawString {
  std::string_view text;
  bool has_escape = false;
};

class JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) : at_(text.data()), end_(at_ + text.size()) {}

  void skip_blanks() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  // All that follow step over blanks first. The next character, or NUL at the end of the text.
  [[nodiscard]] char peek() {
    skip_blanks();
    return at_ < end_ ? *at_ : '\0';
  }
  [[nodiscard]] bool take(char expected) {
    if (peek() != expected) return false;
    ++at_;
    return true;
  }
  [[nodiscard]] bool is_at_end() {
    skip_blanks();
    return at_ == end_;
  }

  // False if no well-formed value of the kind begins here; the position is then meaningless.
  [[nodiscard]] bool take_string(RawString& string);
  [[nodiscard]] bool take_number(IntegerToken& integer);
  [[nodiscard]] bool take_bool(bool& value);

  // Steps over any value. It may open `levels_max` containers inside each other.
  DecodeError skip_value(std::uint32_t levels_max);

  [[nodiscard]] const char* position() const { return at_; }

 private:
  const char* at_;
  const char* end_;
};

// Reads a text that holds one thing and white space: `read(JsonCursor&)` takes the thing.
template <typename Read>
DecodeError parse_whole(std::string_view json, Read read) {
  // The lists that texts are read into count with 32 bits, and what is decoded is never longer.
  if (json.size() > 0xffff'ffff) return DecodeError::kTooLong;
  if (!is_valid_utf8(json)) return DecodeError::kNotUtf8;
  JsonCursor cursor(json);
  if (const DecodeError error = read(cursor); error != DecodeError::kNone) return error;
  return cursor.is_at_end() ? DecodeError::kNone : DecodeError::kTrailingBytes;
}

// Writes what the string stands for and moves `out` behind it. Never more bytes than the raw text
// has; `out` must have room for that many.
DecodeError decode_string(RawString string, char*& out);

// The same, in the place of what `out` holds.
DecodeError decode_string(RawString string, std::string& out);

// One string, in the place of what `text` holds; kBadString if something else stands here.
DecodeError read_text(JsonCursor& cursor, std::string& text);

// A string of 2 * out.size() lower-case hex digits, however escaped; kBadHex for anything else.
DecodeError read_hex(JsonCursor& cursor, std::span<std::uint8_t> out);

// An integer from 0 to `max`; kBadNumber for anything else.
DecodeError read_unsigned(JsonCursor& cursor, std::uint64_t max, std::uint64_t& value);

}  // namespace gyre::nostr

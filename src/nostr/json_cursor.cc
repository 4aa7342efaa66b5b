#include "nostr/json_cursor.h"

#include <cstddef>
#include <cstring>

#include "gyre/base/bytes.h"
#include "nostr/json_block.h"
#include "nostr/json_escape.h"
#include "nostr/json_walker.h"

namespace gyre::nostr {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20; }

DecodeError error_of(StringVerdict verdict) {
  return verdict == StringVerdict::kHalfSurrogate ? DecodeError::kLoneSurrogate
                                                  : DecodeError::kNotJson;
}

}  // namespace

bool JsonCursor::take_string(RawString& string) {
  if (!take('"')) return false;
  const char* const begin = at_;
  string.has_escape = false;
  for (skip_plain(at_, end_); at_ < end_; skip_plain(at_, end_)) {
    if (*at_ == '"') {
      string.text = {begin, static_cast<std::size_t>(at_ - begin)};
      ++at_;
      return true;
    }
    if (is_control(*at_)) return false;
    if (*at_ == '\\') {
      string.has_escape = true;
      ++at_;
      if (at_ == end_) return false;
    }
    ++at_;
  }
  return false;
}

bool JsonCursor::take_number(IntegerToken& integer) {
  skip_blanks();
  const char* const begin = at_;
  const char* const number_end = skip_number(begin, end_);
  if (number_end == nullptr) return false;
  integer = parse_integer({begin, static_cast<std::size_t>(number_end - begin)});
  at_ = number_end;
  return true;
}

bool JsonCursor::take_bool(bool& value) {
  const char first = peek();
  const std::string_view word = first == 't' ? "true" : "false";
  const std::string_view rest(at_, static_cast<std::size_t>(end_ - at_));
  if (!rest.starts_with(word)) return false;
  value = first == 't';
  at_ += word.size();
  return true;
}

DecodeError JsonCursor::skip_value(std::uint32_t levels_max) {
  JsonWalker walker({at_, static_cast<std::size_t>(end_ - at_)});
  if (!walker.skip_value(JsonWalker::kLevelsMax)) return DecodeError::kNotJson;
  if (walker.has_lone_surrogate()) return DecodeError::kLoneSurrogate;
  if (walker.levels() > levels_max) return DecodeError::kTooDeep;
  at_ = walker.position();
  return DecodeError::kNone;
}

DecodeError decode_string(RawString string, char*& out) {
  const char* in = string.text.data();
  const char* const end = in + string.text.size();
  if (!string.has_escape) {
    std::memcpy(out, in, string.text.size());
    out += string.text.size();
    return DecodeError::kNone;
  }
  // As many bytes as are left of the raw text fit behind `out` at any time.
  for (copy_plain(in, end, out); in < end; copy_plain(in, end, out)) {
    if (*in != '\\') {
      *out++ = *in++;
      continue;
    }
    if (const char letter = short_escape(in[1]); letter != '\0') {
      *out++ = letter;
      in += 2;
      continue;
    }
    if (in[1] != 'u') return DecodeError::kNotJson;
    const UnicodeEscape escape = read_unicode_escape(in);
    if (escape.verdict != StringVerdict::kGood) return error_of(escape.verdict);
    out = write_utf8(escape.code_point, out);
    in += escape.bytes;
  }
  return DecodeError::kNone;
}

DecodeError decode_string(RawString string, std::string& out) {
  if (!string.has_escape) {
    out.assign(string.text);
    return DecodeError::kNone;
  }
  out.resize(string.text.size());
  char* end = out.data();
  const DecodeError error = decode_string(string, end);
  out.resize(static_cast<std::size_t>(end - out.data()));
  return error;
}

DecodeError read_text(JsonCursor& cursor, std::string& text) {
  RawString string;
  if (cursor.peek() != '"') return DecodeError::kBadString;
  if (!cursor.take_string(string)) return DecodeError::kNotJson;
  return decode_string(string, text);
}

DecodeError read_hex(JsonCursor& cursor, std::span<std::uint8_t> out) {
  RawString string;
  if (cursor.peek() != '"') return DecodeError::kBadHex;
  if (!cursor.take_string(string)) return DecodeError::kNotJson;
  // Nobody writes hex with escapes; it is JSON all the same.
  std::string decoded;
  std::string_view digits = string.text;
  if (string.has_escape) {
    const DecodeError error = decode_string(string, decoded);
    if (error != DecodeError::kNone) return error;
    digits = decoded;
  }
  const bool is_hex = digits.size() == 2 * out.size() && hex_decode(digits, out.data());
  return is_hex ? DecodeError::kNone : DecodeError::kBadHex;
}

DecodeError read_unsigned(JsonCursor& cursor, std::uint64_t max, std::uint64_t& value) {
  IntegerToken token;
  if (!cursor.take_number(token) || !token.is_integer || token.is_negative || !token.fits) {
    return DecodeError::kBadNumber;
  }
  value = token.magnitude;
  return value <= max ? DecodeError::kNone : DecodeError::kBadNumber;
}

}  // namespace gyre::nostr

#include "nostr/json_string.h"

#include <algorithm>
#include <array>

#include "gyre/base/bytes.h"
#include "gyre/nostr/json_text.h"
#include "nostr/json_block.h"

namespace gyre::nostr {
namespace {

static_assert(kStringSlackBytes >= kBlockBytes);

constexpr std::uint32_t kNotHex = 0xffff'ffff;

constexpr std::uint32_t hex_value(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint32_t>(c - 'a' + 10);
  if (c >= 'A' && c <= 'F') return static_cast<std::uint32_t>(c - 'A' + 10);
  return kNotHex;
}

// The four digits of a \u escape, in either case, or kNotHex.
std::uint32_t read_hex4(const char* digits) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    const std::uint32_t digit = hex_value(digits[i]);
    if (digit == kNotHex) return kNotHex;
    value = value << 4 | digit;
  }
  return value;
}

constexpr bool is_high_surrogate(std::uint32_t unit) { return (unit & 0xfc00) == 0xd800; }
constexpr bool is_low_surrogate(std::uint32_t unit) { return (unit & 0xfc00) == 0xdc00; }

char* write_utf8(std::uint32_t code_point, char* out) {
  const auto continuation = [&](int shift) {
    return static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) return write_canonical_ascii(code_point, out);
  if (code_point < 0x800) {
    *out++ = static_cast<char>(0xc0 | code_point >> 6);
  } else if (code_point < 0x1'0000) {
    *out++ = static_cast<char>(0xe0 | code_point >> 12);
    *out++ = continuation(6);
  } else {
    *out++ = static_cast<char>(0xf0 | code_point >> 18);
    *out++ = continuation(12);
    *out++ = continuation(6);
  }
  *out++ = continuation(0);
  return out;
}

// Reads one escape at `in` (the backslash) and writes what it stands for. Looks at up to 12 bytes:
// the caller finds out afterwards whether the text ended before that.
StringVerdict copy_escape(const char*& in, char*& out) {
  const char kind = in[1];
  switch (kind) {
    case '"':
    case '\\':
    case 'b':
    case 'f':
    case 'n':
    case 'r':
    case 't':
      *out++ = '\\';
      *out++ = kind;
      in += 2;
      return StringVerdict::kGood;
    case '/':
      *out++ = '/';
      in += 2;
      return StringVerdict::kGood;
    case 'u': break;
    default: return StringVerdict::kBroken;
  }
  std::uint32_t code_point = read_hex4(in + 2);
  if (code_point == kNotHex) return StringVerdict::kBroken;
  in += 6;
  if (is_low_surrogate(code_point)) return StringVerdict::kHalfSurrogate;
  if (is_high_surrogate(code_point)) {
    if (in[0] != '\\' || in[1] != 'u') return StringVerdict::kHalfSurrogate;
    const std::uint32_t low = read_hex4(in + 2);
    if (low == kNotHex) return StringVerdict::kBroken;
    if (!is_low_surrogate(low)) return StringVerdict::kHalfSurrogate;
    in += 6;
    code_point = 0x1'0000 + ((code_point & 0x3ff) << 10 | (low & 0x3ff));
  }
  out = write_utf8(code_point, out);
  return StringVerdict::kGood;
}

}  // namespace

char* write_canonical_ascii(std::uint32_t code_point, char* out) {
  char letter = 0;
  switch (code_point) {
    case '\b': letter = 'b'; break;
    case '\f': letter = 'f'; break;
    case '\n': letter = 'n'; break;
    case '\r': letter = 'r'; break;
    case '\t': letter = 't'; break;
    case '"': letter = '"'; break;
    case '\\': letter = '\\'; break;
    default: break;
  }
  if (letter != 0) {
    *out++ = '\\';
    *out++ = letter;
  } else if (code_point < 0x20) {
    const std::string_view front = code_point < 0x10 ? "\\u000" : "\\u001";
    out = std::copy(front.begin(), front.end(), out);
    *out++ = "0123456789abcdef"[code_point & 0xf];
  } else {
    *out++ = static_cast<char>(code_point);
  }
  return out;
}

StringCopy copy_canonical(const char* raw, const char* text_end, char* out) {
  StringVerdict verdict = StringVerdict::kGood;
  for (;;) {
    // Escapes and blocks may have run into the bytes behind the text; this is where it shows.
    if (raw >= text_end) return {StringVerdict::kBroken, text_end, out};
    const std::size_t plain = copy_block(raw, out);
    raw += plain;
    out += plain;
    if (plain == kBlockBytes) continue;
    if (raw >= text_end) return {StringVerdict::kBroken, text_end, out};
    if (*raw == '"') return {verdict, raw, out};
    if (*raw != '\\') return {StringVerdict::kBroken, raw, out};
    const StringVerdict escape = copy_escape(raw, out);
    if (escape == StringVerdict::kBroken) return {escape, raw, out};
    if (escape == StringVerdict::kHalfSurrogate) verdict = escape;
  }
}

StringSkip skip_string(const char* raw, const char* text_end) {
  StringVerdict verdict = StringVerdict::kGood;
  std::array<char, kBlockBytes> ignored;
  for (;;) {
    if (raw >= text_end) return {StringVerdict::kBroken, text_end};
    const std::size_t plain = copy_block(raw, ignored.data());
    raw += plain;
    if (plain == kBlockBytes) continue;
    if (raw >= text_end) return {StringVerdict::kBroken, text_end};
    if (*raw == '"') return {verdict, raw};
    if (*raw != '\\') return {StringVerdict::kBroken, raw};
    char* out = ignored.data();
    const StringVerdict escape = copy_escape(raw, out);
    if (escape == StringVerdict::kBroken) return {escape, raw};
    if (escape == StringVerdict::kHalfSurrogate) verdict = escape;
  }
}

const char* plain_hex(const char* raw, const char* text_end, std::size_t digits, char* scratch) {
  if (static_cast<std::size_t>(text_end - raw) > digits && raw[digits] == '"' &&
      is_lower_hex({raw, digits}, digits)) {
    return raw;
  }
  const StringCopy copy = copy_canonical(raw, text_end, scratch);
  if (copy.verdict != StringVerdict::kGood) return nullptr;
  const std::string_view text(scratch, static_cast<std::size_t>(copy.out_end - scratch));
  return is_lower_hex(text, digits) ? scratch : nullptr;
}

std::size_t decoded_code_point_count(std::string_view escaped) {
  std::size_t count = code_point_count(escaped);
  for (std::size_t at = escaped.find('\\'); at != std::string_view::npos;) {
    // \u00xx stands for one code point in the place of six, the short escapes in that of two.
    const std::size_t escape_chars = escaped[at + 1] == 'u' ? 6 : 2;
    count -= escape_chars - 1;
    at = escaped.find('\\', at + escape_chars);
  }
  return count;
}

}  // namespace gyre::nostr

#include "nostr/json_string.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "gyre/base/bytes.h"
#include "gyre/nostr/json_text.h"
#include "nostr/json_block.h"
#include "nostr/json_escape.h"

namespace gyre::nostr {
namespace {

static_assert(kStringSlackBytes >= kBlockBytes);

// Of a surrogate pair, the longest.
constexpr std::size_t kEscapeBytesMax = 12;

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
  const UnicodeEscape escape = read_unicode_escape(in);
  in += escape.bytes;
  if (escape.verdict != StringVerdict::kGood) return escape.verdict;
  out = escape.code_point < 0x80 ? write_canonical_ascii(escape.code_point, out)
                                 : write_utf8(escape.code_point, out);
  return StringVerdict::kGood;
}

}  // namespace

char* write_canonical_ascii(std::uint32_t code_point, char* out) {
  if (const char letter = short_letter(static_cast<char>(code_point)); letter != '\0') {
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

// Blocks and escapes are looked at only where the text has room for them, so that nothing behind it
// is read; its last bytes are looked at one by one, and an escape ends with the quote at the
// latest.
StringSkip skip_string(const char* raw, const char* text_end) {
  StringVerdict verdict = StringVerdict::kGood;
  for (skip_plain(raw, text_end); raw < text_end; skip_plain(raw, text_end)) {
    if (*raw == '"') return {verdict, raw};
    if (static_cast<unsigned char>(*raw) < 0x20) return {StringVerdict::kBroken, raw};
    if (*raw != '\\') {
      ++raw;
      continue;
    }
    // A copy, padded: the text may end within the escape.
    std::array<char, kEscapeBytesMax> copy{};
    std::memcpy(copy.data(), raw, std::min(copy.size(), static_cast<std::size_t>(text_end - raw)));
    const char* in = copy.data();
    std::array<char, 8> ignored;
    char* out = ignored.data();
    const StringVerdict escape = copy_escape(in, out);
    if (escape == StringVerdict::kBroken) return {escape, raw};
    if (escape == StringVerdict::kHalfSurrogate) verdict = escape;
    raw += in - copy.data();
  }
  return {StringVerdict::kBroken, text_end};
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

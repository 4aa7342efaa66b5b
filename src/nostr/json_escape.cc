#include "nostr/json_escape.h"

namespace gyre::nostr {
namespace {

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

}  // namespace

UnicodeEscape read_unicode_escape(const char* in) {
  const std::uint32_t first = read_hex4(in + 2);
  if (first == kNotHex) return {StringVerdict::kBroken, 0, 0};
  if (is_low_surrogate(first)) return {StringVerdict::kHalfSurrogate, 0, 6};
  if (!is_high_surrogate(first)) return {StringVerdict::kGood, first, 6};
  if (in[6] != '\\' || in[7] != 'u') return {StringVerdict::kHalfSurrogate, 0, 6};
  const std::uint32_t low = read_hex4(in + 8);
  if (low == kNotHex) return {StringVerdict::kBroken, 0, 0};
  if (!is_low_surrogate(low)) return {StringVerdict::kHalfSurrogate, 0, 6};
  return {StringVerdict::kGood, 0x1'0000 + ((first & 0x3ff) << 10 | (low & 0x3ff)), 12};
}

char* write_utf8(std::uint32_t code_point, char* out) {
  const auto continuation = [&](int shift) {
    return static_cast<char>(0x80 | (code_point >> shift & 0x3f));
  };
  if (code_point < 0x80) {
    *out++ = static_cast<char>(code_point);
    return out;
  }
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

}  // namespace gyre::nostr

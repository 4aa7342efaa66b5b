#include "gyre/nostr/base64.h"

#include <array>

namespace gyre::nostr {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Two characters for each twelve bits: half the look-ups for long texts.
constexpr std::array<std::array<char, 2>, 4096> kPairs = [] {
  std::array<std::array<char, 2>, 4096> pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
  return pairs;
}();

constexpr std::uint8_t kNoValue = 0xff;

constexpr std::array<std::uint8_t, 256> kValues = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoValue);
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<std::uint8_t>(kAlphabet[i])] = i;
  return values;
}();

std::uint8_t value_of(char c) { return kValues[static_cast<std::uint8_t>(c)]; }

// The last four characters, with one or two of padding.
std::optional<std::size_t> parse_tail(std::string_view tail, std::uint8_t* out) {
  const std::size_t padding = tail[2] == '=' ? 2 : 1;
  const std::uint8_t a = value_of(tail[0]);
  const std::uint8_t b = value_of(tail[1]);
  if (tail[3] != '=' || a == kNoValue || b == kNoValue) return std::nullopt;
  *out++ = static_cast<std::uint8_t>(a << 2 | b >> 4);
  if (padding == 2) return (b & 15) == 0 ? std::optional<std::size_t>(1) : std::nullopt;
  const std::uint8_t c = value_of(tail[2]);
  if (c == kNoValue || (c & 3) != 0) return std::nullopt;
  *out = static_cast<std::uint8_t>(b << 4 | c >> 2);
  return 2;
}

}  // namespace

char* write_base64(ByteSpan bytes, char* out) {
  for (; bytes.size() >= 3; bytes = bytes.subspan(3)) {
    const std::uint32_t bits = static_cast<std::uint32_t>(bytes[0]) << 16 |
                               static_cast<std::uint32_t>(bytes[1]) << 8 | bytes[2];
    const std::array<char, 2> first = kPairs[bits >> 12];
    const std::array<char, 2> second = kPairs[bits & 0xfff];
    *out++ = first[0];
    *out++ = first[1];
    *out++ = second[0];
    *out++ = second[1];
  }
  if (bytes.empty()) return out;
  const std::uint32_t bits = static_cast<std::uint32_t>(bytes[0]) << 16 |
                             (bytes.size() == 2 ? static_cast<std::uint32_t>(bytes[1]) << 8 : 0);
  *out++ = kAlphabet[bits >> 18];
  *out++ = kAlphabet[bits >> 12 & 63];
  *out++ = bytes.size() == 2 ? kAlphabet[bits >> 6 & 63] : '=';
  *out++ = '=';
  return out;
}

std::optional<std::size_t> parse_base64(std::string_view text, std::uint8_t* out) {
  if (text.size() % 4 != 0) return std::nullopt;
  const std::uint8_t* const begin = out;
  const bool has_padding = text.ends_with('=');
  const std::size_t whole_chars = text.size() - (has_padding ? 4 : 0);
  std::uint32_t seen = 0;
  for (std::size_t i = 0; i < whole_chars; i += 4) {
    const std::uint32_t a = value_of(text[i]);
    const std::uint32_t b = value_of(text[i + 1]);
    const std::uint32_t c = value_of(text[i + 2]);
    const std::uint32_t d = value_of(text[i + 3]);
    seen |= a | b | c | d;
    const std::uint32_t bits = a << 18 | b << 12 | c << 6 | d;
    *out++ = static_cast<std::uint8_t>(bits >> 16);
    *out++ = static_cast<std::uint8_t>(bits >> 8);
    *out++ = static_cast<std::uint8_t>(bits);
  }
  // Values have six bits; only a character outside the alphabet sets the two above.
  if ((seen & 0xc0) != 0) return std::nullopt;
  std::size_t tail_bytes = 0;
  if (has_padding) {
    const std::optional<std::size_t> tail = parse_tail(text.substr(whole_chars), out);
    if (!tail) return std::nullopt;
    tail_bytes = *tail;
  }
  return static_cast<std::size_t>(out - begin) + tail_bytes;
}

}  // namespace gyre::nostr

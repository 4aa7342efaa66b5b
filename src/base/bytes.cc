#include "gyre/base/bytes.h"

namespace gyre {
namespace {

constexpr std::uint8_t kNotADigit = 0xff;

constexpr std::array<std::uint8_t, 256> make_digit_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotADigit);
  for (int i = 0; i < 10; ++i)
    values[static_cast<std::size_t>('0' + i)] = static_cast<std::uint8_t>(i);
  for (int i = 0; i < 6; ++i)
    values[static_cast<std::size_t>('a' + i)] = static_cast<std::uint8_t>(10 + i);
  return values;
}

constexpr std::array<std::uint8_t, 256> kDigitValues = make_digit_values();

}  // namespace

void hex_encode(ByteSpan bytes, char* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  for (const std::uint8_t byte : bytes) {
    *out++ = kDigits[byte >> 4];
    *out++ = kDigits[byte & 15];
  }
}

std::string to_hex(ByteSpan bytes) {
  std::string text(bytes.size() * 2, '\0');
  hex_encode(bytes, text.data());
  return text;
}

bool hex_decode(std::string_view hex, std::uint8_t* out) {
  if (hex.size() % 2 != 0) return false;
  std::uint8_t seen = 0;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::uint8_t high = kDigitValues[static_cast<std::uint8_t>(hex[i])];
    const std::uint8_t low = kDigitValues[static_cast<std::uint8_t>(hex[i + 1])];
    seen |= high | low;
    *out++ = static_cast<std::uint8_t>((high << 4) | low);
  }
  return (seen & 0xf0) == 0;
}

bool is_lower_hex(std::string_view text, std::size_t digits) {
  if (text.size() != digits) return false;
  std::uint8_t seen = 0;
  for (const char c : text) seen |= kDigitValues[static_cast<std::uint8_t>(c)];
  return (seen & 0xf0) == 0;
}

}  // namespace gyre

#include "gyre/base/bytes.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

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

#if defined(__SSE2__)

// SSE2 is part of every x86-64, so there is nothing to choose at run time; a wider unit would save
// nothing on ids and keys, which are two and four blocks long.

// Sixteen bytes to 32 digits.
void encode_block(const std::uint8_t* bytes, char* out) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i low_nibbles = _mm_set1_epi8(0x0f);
  const __m128i high = _mm_and_si128(_mm_srli_epi16(block, 4), low_nibbles);
  const __m128i low = _mm_and_si128(block, low_nibbles);
  const auto digits = [](__m128i nibbles) {
    const __m128i is_letter = _mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9));
    const __m128i to_letter = _mm_and_si128(is_letter, _mm_set1_epi8('a' - '0' - 10));
    return _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8('0')), to_letter);
  };
  auto* const to = reinterpret_cast<__m128i*>(out);
  _mm_storeu_si128(to, digits(_mm_unpacklo_epi8(high, low)));
  _mm_storeu_si128(to + 1, digits(_mm_unpackhi_epi8(high, low)));
}

struct Nibbles {
  __m128i values;    // Meaningless where a character is no digit.
  __m128i is_digit;  // All ones where it is.
};

Nibbles decode_digits(const char* digits) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(digits));
  // Unsigned x <= n is min(x, n) == x.
  const __m128i number = _mm_sub_epi8(block, _mm_set1_epi8('0'));
  const __m128i is_number = _mm_cmpeq_epi8(_mm_min_epu8(number, _mm_set1_epi8(9)), number);
  const __m128i letter = _mm_sub_epi8(block, _mm_set1_epi8('a'));
  const __m128i is_letter = _mm_cmpeq_epi8(_mm_min_epu8(letter, _mm_set1_epi8(5)), letter);
  const __m128i letter_value = _mm_add_epi8(letter, _mm_set1_epi8(10));
  return {_mm_or_si128(_mm_and_si128(is_number, number), _mm_and_si128(is_letter, letter_value)),
          _mm_or_si128(is_number, is_letter)};
}

// Of each pair of nibbles, the left one being the upper half of the byte: a byte in 16 bits.
__m128i join_pairs(__m128i nibbles) {
  const __m128i high = _mm_slli_epi16(_mm_and_si128(nibbles, _mm_set1_epi16(0x00ff)), 4);
  return _mm_or_si128(high, _mm_srli_epi16(nibbles, 8));
}

// 32 digits to sixteen bytes; false if one is no digit.
bool decode_block(const char* digits, std::uint8_t* out) {
  const Nibbles first = decode_digits(digits);
  const Nibbles second = decode_digits(digits + 16);
  const __m128i bytes = _mm_packus_epi16(join_pairs(first.values), join_pairs(second.values));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), bytes);
  return _mm_movemask_epi8(_mm_and_si128(first.is_digit, second.is_digit)) == 0xffff;
}

#endif

}  // namespace

void hex_encode(ByteSpan bytes, char* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
#if defined(__SSE2__)
  for (; bytes.size() >= 16; bytes = bytes.subspan(16), out += 32) encode_block(bytes.data(), out);
#endif
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
#if defined(__SSE2__)
  for (; hex.size() >= 32; hex.remove_prefix(32), out += 16) {
    if (!decode_block(hex.data(), out)) return false;
  }
#endif
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
#if defined(__SSE2__)
  for (; text.size() >= 16; text.remove_prefix(16)) {
    if (_mm_movemask_epi8(decode_digits(text.data()).is_digit) != 0xffff) return false;
  }
#endif
  std::uint8_t seen = 0;
  for (const char c : text) seen |= kDigitValues[static_cast<std::uint8_t>(c)];
  return (seen & 0xf0) == 0;
}

}  // namespace gyre

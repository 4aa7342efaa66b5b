// Hex digits of packed events to bytes, eight at a time. The digits are known to be 0-9a-f: a
// packed event is made or accepted only with such.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "gyre/base/bytes.h"

namespace gyre::nostr {

// Four bytes from eight digits, first byte in the lowest bits.
inline std::uint32_t decode_hex_word(const char* digits) {
  std::uint64_t word;
  std::memcpy(&word, digits, sizeof word);
  // '0' is 0x30 and 'a' is 0x61: letters, and only they, have bit 6, and are 9 short of their
  // value.
  word = (word & 0x0f0f'0f0f'0f0f'0f0fu) + 9 * (word >> 6 & 0x0101'0101'0101'0101u);
  // Join each pair, the left digit being the upper half, then close the gaps.
  word = (word << 4 | word >> 8) & 0x00ff'00ff'00ff'00ffu;
  word = (word | word >> 8) & 0x0000'ffff'0000'ffffu;
  return static_cast<std::uint32_t>(word | word >> 16);
}

// Requires: a multiple of eight digits.
inline void decode_hex_words(std::string_view digits, std::uint8_t* out) {
  const char* const begin = digits.data();
  for (std::size_t i = 0; i < digits.size(); i += 8) {
    const std::uint32_t word = decode_hex_word(begin + i);
    std::memcpy(out + i / 2, &word, sizeof word);
  }
}

// Requires: 64 digits.
inline Bytes32 decode_hex32(std::string_view digits) {
  Bytes32 value;
  decode_hex_words(digits, value.bytes.data());
  return value;
}

}  // namespace gyre::nostr

// bech32 (BIP-173): bytes as text that survives typing errors. Nostr writes keys and pointers so
// (NIP-19, entity.h), and allows 5000 characters instead of 90.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"

namespace gyre::nostr {

inline constexpr std::size_t kBech32CharsMax = 5'000;

// The 32 characters of the data part, by their values.
inline constexpr std::string_view kBech32Alphabet = "qpzry9x8gf2tvdw0s3jn54khce6mua7l";

// Prefix, the digit 1, five bits a character, six characters of checksum.
[[nodiscard]] constexpr std::size_t bech32_chars(std::size_t prefix_chars, std::size_t bytes) {
  return prefix_chars + 1 + (bytes * 8 + 4) / 5 + 6;
}

// Writes that many characters, lower case, and returns the end. Requires: `prefix` is one or more
// printable ASCII characters without upper-case letters.
char* write_bech32(std::string_view prefix, ByteSpan bytes, char* out);

struct Bech32 {
  std::string prefix;  // Lower case.
  std::vector<std::uint8_t> bytes;
};

// Takes text in one case or the other, not mixed. Replaces what `result` holds and keeps its
// memory.
DecodeError parse_bech32(std::string_view text, Bech32& result);

}  // namespace gyre::nostr

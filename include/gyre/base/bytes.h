// Fixed-size byte strings and lower-case hex, the only hex that Nostr knows.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

namespace gyre {

using ByteSpan = std::span<const std::uint8_t>;

// An id or an x-only public key. Ordered as its hex form is: first byte most significant.
struct Bytes32 {
  std::array<std::uint8_t, 32> bytes{};

  friend bool operator==(const Bytes32&, const Bytes32&) = default;
  friend std::strong_ordering operator<=>(const Bytes32& a, const Bytes32& b) {
    return std::memcmp(a.bytes.data(), b.bytes.data(), 32) <=> 0;
  }

  template <typename H>
  friend H AbslHashValue(H h, const Bytes32& value) {
    return H::combine_contiguous(std::move(h), value.bytes.data(), value.bytes.size());
  }
};

// The first eight bytes as a number that sorts as the whole does.
[[nodiscard]] inline std::uint64_t prefix64(const std::uint8_t* bytes) {
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return __builtin_bswap64(value);
}

// Writes 2 * bytes.size() lower-case digits to `out`.
void hex_encode(ByteSpan bytes, char* out);
[[nodiscard]] std::string to_hex(ByteSpan bytes);

// Reads exactly `hex.size() / 2` bytes; false (and `out` unspecified) if `hex` has an odd length or
// any character outside 0-9a-f. Upper case is refused: NIP-01 knows lower case only.
[[nodiscard]] bool hex_decode(std::string_view hex, std::uint8_t* out);

// True if `text` is exactly `digits` characters of 0-9a-f.
[[nodiscard]] bool is_lower_hex(std::string_view text, std::size_t digits);

[[nodiscard]] inline ByteSpan as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
[[nodiscard]] inline std::string_view as_text(ByteSpan bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace gyre

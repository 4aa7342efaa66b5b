#include "net/mask.h"

#include <array>
#include <bit>
#include <cstring>

namespace gyre::net {

void unmask(std::span<std::uint8_t> payload, std::uint32_t mask) {
  const std::uint64_t mask64 = (static_cast<std::uint64_t>(mask) << 32) | mask;
  std::uint8_t* bytes = payload.data();
  std::size_t left = payload.size();
  for (; left >= sizeof mask64; left -= sizeof mask64, bytes += sizeof mask64) {
    std::uint64_t word;
    std::memcpy(&word, bytes, sizeof word);
    word ^= mask64;
    std::memcpy(bytes, &word, sizeof word);
  }
  std::array<std::uint8_t, sizeof mask64> tail;
  std::memcpy(tail.data(), &mask64, sizeof mask64);
  for (std::size_t index = 0; index < left; ++index) bytes[index] ^= tail[index];
}

std::uint32_t advance_mask(std::uint32_t mask, std::size_t bytes) {
  const int bits = static_cast<int>(bytes % 4 * 8);
  // The next byte to use must be first in memory: the low one on little-endian machines.
  if constexpr (std::endian::native == std::endian::little) return std::rotr(mask, bits);
  return std::rotl(mask, bits);
}

}  // namespace gyre::net

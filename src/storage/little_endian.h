// Fixed-width numbers as they stand on disk: little-endian, at any alignment.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace gyre::storage {

static_assert(std::endian::native == std::endian::little,
              "numbers on disk are copied as they stand in memory");

[[nodiscard]] inline std::uint16_t load_u16(const std::uint8_t* from) {
  std::uint16_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[nodiscard]] inline std::uint32_t load_u32(const std::uint8_t* from) {
  std::uint32_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

[[nodiscard]] inline std::uint64_t load_u64(const std::uint8_t* from) {
  std::uint64_t value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

inline void store_u16(std::uint8_t* to, std::uint16_t value) {
  std::memcpy(to, &value, sizeof value);
}

inline void store_u32(std::uint8_t* to, std::uint32_t value) {
  std::memcpy(to, &value, sizeof value);
}

inline void store_u64(std::uint8_t* to, std::uint64_t value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace gyre::storage

#include "storage/crc32c.h"

#include <array>
#include <cstddef>

#include "storage/little_endian.h"

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace gyre::storage {
namespace {

// The polynomial 0x1edc6f41 with its bits reversed, as the reflected algorithm wants it.
constexpr std::uint32_t kPolynomial = 0x82f63b78;

// tables[k][b]: what byte b does to the checksum when k more bytes follow it.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
    tables[0][byte] = crc;
  }
  for (std::size_t k = 1; k < tables.size(); ++k) {
    for (std::size_t byte = 0; byte < 256; ++byte) {
      const std::uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

#if defined(__x86_64__)
// One stream: 8 bytes in three cycles, about 100 ns for an event of 900 bytes. Three interleaved
// streams would save most of that and are not worth their tables beside a signature check of 60 µs.
__attribute__((target("sse4.2"))) std::uint32_t crc32c_sse42(std::uint32_t crc, ByteSpan bytes) {
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  std::uint64_t wide = ~crc;
  for (; left >= 8; left -= 8, at += 8) wide = _mm_crc32_u64(wide, load_u64(at));
  auto narrow = static_cast<std::uint32_t>(wide);
  for (; left != 0; --left, ++at) narrow = _mm_crc32_u8(narrow, *at);
  return ~narrow;
}
#endif

using Implementation = std::uint32_t (*)(std::uint32_t, ByteSpan);

Implementation choose_implementation() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("sse4.2")) return crc32c_sse42;
#endif
  return crc32c_portable;
}

}  // namespace

std::uint32_t crc32c(std::uint32_t crc, ByteSpan bytes) {
  static const Implementation implementation = choose_implementation();
  return implementation(crc, bytes);
}

std::uint32_t crc32c_portable(std::uint32_t crc, ByteSpan bytes) {
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  crc = ~crc;
  for (; left >= 8; left -= 8, at += 8) {
    const std::uint64_t word = load_u64(at) ^ crc;
    crc = 0;
    for (std::size_t i = 0; i < 8; ++i) crc ^= kTables[7 - i][(word >> (8 * i)) & 0xff];
  }
  for (; left != 0; --left, ++at) crc = (crc >> 8) ^ kTables[0][(crc ^ *at) & 0xff];
  return ~crc;
}

}  // namespace gyre::storage

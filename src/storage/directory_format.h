// The bytes of the directory file (FORMAT.md, "Directory"): a header page, then rows.
//
// A row on disk carries a check of itself in the upper 13 bits of its flags, so that a damaged row
// is noticed whenever it is read; the row in memory has zeros there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gyre/storage/directory.h"
#include "storage/crc32c.h"

namespace gyre::storage {

inline constexpr std::uint64_t kDirectoryHeaderBytes = 4096;
inline constexpr std::uint32_t kDirectoryVersion = 2;
inline constexpr std::uint16_t kRowFlagsMask = kRowDead | kRowExpires | kRowSuperseded;
inline constexpr int kRowCheckShift = 3;
static_assert(kRowFlagsMask < 1 << kRowCheckShift);
static_assert(offsetof(DirectoryRow, flags) == 30);

[[nodiscard]] constexpr std::uint64_t directory_row_offset(Sequence sequence) {
  return kDirectoryHeaderBytes + std::uint64_t{sequence} * sizeof(DirectoryRow);
}

// Magic, version, bytes of a row, CRC32C of these; the rest of the page is zero and not read.
using DirectoryHeaderBytes = std::array<std::uint8_t, 20>;
[[nodiscard]] inline DirectoryHeaderBytes directory_header() {
  DirectoryHeaderBytes bytes{'G', 'Y', 'R', 'E', 'D', 'I', 'R', 0};
  const std::uint32_t numbers[2] = {kDirectoryVersion, sizeof(DirectoryRow)};
  std::memcpy(bytes.data() + 8, numbers, sizeof numbers);
  const std::uint32_t crc = crc32c(0, {bytes.data(), 16});
  std::memcpy(bytes.data() + 16, &crc, sizeof crc);
  return bytes;
}

// 13 bits over the whole row. Two multiplications instead of a CRC: every candidate of every scan
// pays for this.
[[nodiscard]] inline std::uint16_t directory_row_check(const DirectoryRow& row) {
  __extension__ using Wide = unsigned __int128;
  std::uint64_t words[4];
  std::memcpy(words, &row, sizeof words);
  // Odd numbers from the digits of pi, so that rows of zeros have no check of zero.
  const Wide left = Wide{words[0] ^ 0x243f6a8885a308d3} * (words[1] ^ 0x13198a2e03707345);
  const Wide right = Wide{words[2] ^ 0xa4093822299f31d1} * (words[3] ^ 0x082efa98ec4e6c89);
  const Wide sum = left + (right << 64 | right >> 64);
  const std::uint64_t folded =
      static_cast<std::uint64_t>(sum) ^ static_cast<std::uint64_t>(sum >> 64);
  return static_cast<std::uint16_t>(folded >> (64 - 16 + kRowCheckShift));
}

// Puts the check in. Requires: no bits but RowFlags.
inline void seal_directory_row(DirectoryRow& row) {
  const std::uint16_t check = directory_row_check(row);
  row.flags = static_cast<std::uint16_t>(row.flags | check << kRowCheckShift);
}

// Takes it out; false if it is wrong.
[[nodiscard]] inline bool open_directory_row(DirectoryRow& row) {
  const int check = row.flags >> kRowCheckShift;
  row.flags &= kRowFlagsMask;
  return directory_row_check(row) == check;
}

}  // namespace gyre::storage

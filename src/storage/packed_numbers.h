// Numbers packed side by side with as many bits each as the largest of them needs, so that any of
// them is read at once.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "storage/little_endian.h"

namespace gyre::storage {

// Bits of each number of a list whose largest is `largest`. One load must reach all bits of a
// number that begins anywhere in a byte: beyond 57 bits it is whole words.
[[nodiscard]] constexpr std::uint32_t packed_bits(std::uint64_t largest) {
  const auto bits = static_cast<std::uint32_t>(std::bit_width(largest));
  return bits > 57 ? 64 : bits;
}

[[nodiscard]] constexpr std::uint64_t packed_bytes(std::uint64_t count, std::uint32_t bits) {
  return (count * bits + 7) / 8;
}

// Up to 8 bytes behind the list are touched: the caller sees to it that they are there.
class PackedNumbers {
 public:
  PackedNumbers(const std::uint8_t* bytes, std::uint32_t bits)
      : bytes_(bytes),
        bits_(bits),
        mask_(bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1) {}

  [[nodiscard]] std::uint64_t operator[](std::uint64_t index) const {
    const std::uint64_t bit = index * bits_;
    return load_u64(bytes_ + bit / 8) >> (bit % 8) & mask_;
  }

 private:
  const std::uint8_t* bytes_;
  std::uint32_t bits_;
  std::uint64_t mask_;
};

// Writes a list, from the first number to the last, and fills the last byte with zeros.
class NumberPacker {
 public:
  NumberPacker(std::uint32_t bits, std::vector<std::uint8_t>& out) : bits_(bits), out_(out) {}
  void add(std::uint64_t number) {
    pending_ |= number << pending_bits_;
    pending_bits_ += bits_;
    if (pending_bits_ < 64) return;
    append(sizeof pending_);
    pending_bits_ -= 64;
    // What did not fit: none of it if the word ended with the number.
    pending_ = pending_bits_ == 0 ? 0 : number >> (bits_ - pending_bits_);
  }
  void finish() {
    append((pending_bits_ + 7) / 8);
    pending_ = 0;
    pending_bits_ = 0;
  }

 private:
  void append(std::size_t bytes) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof pending_);
    store_u64(out_.data() + at, pending_);
    out_.resize(at + bytes);
  }

  const std::uint32_t bits_;
  std::vector<std::uint8_t>& out_;
  std::uint64_t pending_ = 0;
  std::uint32_t pending_bits_ = 0;  // Below 64 between two calls.
};

}  // namespace gyre::storage

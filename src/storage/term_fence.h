// TermFence: says "surely not here" of most terms that a run does not have.
//
// A split-block Bloom filter: a term owns one block of eight 32-bit words, and one bit in each. So
// a question costs one cache line. At ten bits for each term about one absent term in a hundred
// slips through. The bytes stand in the run file as they are in memory.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

inline constexpr std::size_t kFenceBlockBytes = 32;
using FenceBlock = std::array<std::uint32_t, kFenceBlockBytes / sizeof(std::uint32_t)>;

// A term as fences are asked for it: worked out once, however many fences are asked.
class FenceKey {
 public:
  explicit FenceKey(Term term);

  [[nodiscard]] const FenceBlock& bits() const { return bits_; }
  // The upper half of the term chooses the block: a multiplication instead of a division.
  [[nodiscard]] std::uint64_t block(std::uint64_t block_count) const {
    return upper_half_ * block_count >> 32;
  }

 private:
  std::uint64_t upper_half_;
  FenceBlock bits_;
};

class TermFenceBuilder {
 public:
  explicit TermFenceBuilder(std::uint64_t term_count);
  void add(Term term);
  [[nodiscard]] ByteSpan bytes() const;

 private:
  std::vector<FenceBlock> blocks_;
};

class TermFence {
 public:
  TermFence() = default;
  // Requires: a positive multiple of kFenceBlockBytes; the bytes outlive the fence.
  explicit TermFence(ByteSpan bytes);
  void prefetch(const FenceKey& key) const { __builtin_prefetch(block(key)); }
  [[nodiscard]] bool may_have(const FenceKey& key) const {
    FenceBlock here;
    std::memcpy(here.data(), block(key), sizeof here);
    std::uint32_t missing = 0;
    for (std::size_t i = 0; i < here.size(); ++i) missing |= key.bits()[i] & ~here[i];
    return missing == 0;
  }

 private:
  [[nodiscard]] const std::uint8_t* block(const FenceKey& key) const {
    return bytes_ + key.block(block_count_) * kFenceBlockBytes;
  }

  const std::uint8_t* bytes_ = nullptr;
  std::uint64_t block_count_ = 0;
};

}  // namespace gyre::storage

// TermFence: says "surely not here" of most terms that a run does not have.
//
// A split-block Bloom filter: a term owns one block of eight 32-bit words, and one bit in each. So
// a question costs one cache line. At ten bits for each term about one absent term in a hundred
// slips through. The bytes stand in the run file as they are in memory.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

inline constexpr std::size_t kFenceBlockBytes = 32;

class TermFenceBuilder {
 public:
  explicit TermFenceBuilder(std::uint64_t term_count);
  void add(Term term);
  [[nodiscard]] ByteSpan bytes() const;

 private:
  std::vector<std::uint32_t> words_;
};

class TermFence {
 public:
  TermFence() = default;
  // Requires: a positive multiple of kFenceBlockBytes; the bytes outlive the fence.
  explicit TermFence(ByteSpan bytes);
  void prefetch(Term term) const;
  [[nodiscard]] bool may_have(Term term) const;

 private:
  const std::uint8_t* bytes_ = nullptr;
  std::uint64_t block_count_ = 0;
};

}  // namespace gyre::storage

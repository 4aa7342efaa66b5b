#include "storage/term_fence.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kBitsPerTerm = 10;
constexpr std::size_t kWords = kFenceBlockBytes / sizeof(std::uint32_t);

using Block = std::array<std::uint32_t, kWords>;

// The upper half of the term chooses the block: a multiplication instead of a division.
std::uint64_t block_of(Term term, std::uint64_t block_count) {
  return (term >> 32) * block_count >> 32;
}

// The lower half chooses the bits. Stands on disk: never change the multipliers, which are odd
// numbers without a pattern (digits of e).
Block bits_of(Term term) {
  constexpr Block kMultipliers = {0xb7e15163, 0x8aed2a6b, 0xbf715881, 0x9cf4f3c7,
                                  0x62e7160f, 0x38b4da57, 0xa784d905, 0x190cfef3};
  const auto low = static_cast<std::uint32_t>(term);
  Block bits;
  for (std::size_t i = 0; i < kWords; ++i) bits[i] = 1u << (low * kMultipliers[i] >> 27);
  return bits;
}

}  // namespace

TermFenceBuilder::TermFenceBuilder(std::uint64_t term_count) {
  constexpr std::uint64_t kBlockBits = kFenceBlockBytes * 8;
  // block_of() can tell 2^32 blocks apart; a run has far fewer.
  const std::uint64_t blocks =
      std::max<std::uint64_t>(1, (term_count * kBitsPerTerm + kBlockBits - 1) / kBlockBits);
  words_.resize(blocks * kWords);
}

void TermFenceBuilder::add(Term term) {
  const Block bits = bits_of(term);
  std::uint32_t* const block = words_.data() + block_of(term, words_.size() / kWords) * kWords;
  for (std::size_t i = 0; i < kWords; ++i) block[i] |= bits[i];
}

ByteSpan TermFenceBuilder::bytes() const {
  return {reinterpret_cast<const std::uint8_t*>(words_.data()), words_.size() * sizeof words_[0]};
}

TermFence::TermFence(ByteSpan bytes)
    : bytes_(bytes.data()), block_count_(bytes.size() / kFenceBlockBytes) {
  GYRE_ASSERT(block_count_ > 0 && bytes.size() % kFenceBlockBytes == 0);
}

void TermFence::prefetch(Term term) const {
  __builtin_prefetch(bytes_ + block_of(term, block_count_) * kFenceBlockBytes);
}

bool TermFence::may_have(Term term) const {
  Block block;
  std::memcpy(block.data(), bytes_ + block_of(term, block_count_) * kFenceBlockBytes, sizeof block);
  const Block bits = bits_of(term);
  std::uint32_t missing = 0;
  for (std::size_t i = 0; i < kWords; ++i) missing |= bits[i] & ~block[i];
  return missing == 0;
}

}  // namespace gyre::storage

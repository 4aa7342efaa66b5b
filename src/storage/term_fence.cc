#include "storage/term_fence.h"

#include <algorithm>

#include "gyre/base/assert.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kBitsPerTerm = 10;

}  // namespace

// The lower half chooses the bits. Stands on disk: never change the multipliers, which are odd
// numbers without a pattern (digits of e).
FenceKey::FenceKey(Term term) : upper_half_(term >> 32) {
  constexpr FenceBlock kMultipliers = {0xb7e15163, 0x8aed2a6b, 0xbf715881, 0x9cf4f3c7,
                                       0x62e7160f, 0x38b4da57, 0xa784d905, 0x190cfef3};
  const auto low = static_cast<std::uint32_t>(term);
  for (std::size_t i = 0; i < bits_.size(); ++i) bits_[i] = 1u << (low * kMultipliers[i] >> 27);
}

TermFenceBuilder::TermFenceBuilder(std::uint64_t term_count) {
  constexpr std::uint64_t kBlockBits = kFenceBlockBytes * 8;
  // 32 bits can tell 2^32 blocks apart; a run has far fewer.
  blocks_.resize(
      std::max<std::uint64_t>(1, (term_count * kBitsPerTerm + kBlockBits - 1) / kBlockBits));
}

void TermFenceBuilder::add(Term term) {
  const FenceKey key(term);
  FenceBlock& block = blocks_[key.block(blocks_.size())];
  for (std::size_t i = 0; i < block.size(); ++i) block[i] |= key.bits()[i];
}

ByteSpan TermFenceBuilder::bytes() const {
  return {reinterpret_cast<const std::uint8_t*>(blocks_.data()), blocks_.size() * kFenceBlockBytes};
}

TermFence::TermFence(ByteSpan bytes)
    : bytes_(bytes.data()), block_count_(bytes.size() / kFenceBlockBytes) {
  GYRE_ASSERT(block_count_ > 0 && bytes.size() % kFenceBlockBytes == 0);
}

}  // namespace gyre::storage

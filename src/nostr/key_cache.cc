#include "nostr/key_cache.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::nostr {

KeyCache::KeyCache(std::uint32_t slots, std::array<std::uint64_t, 2> secret)
    : set_count_(slots == 0 ? 0 : std::bit_ceil(std::max(slots, kWays)) / kWays),
      secret_(secret),
      // Not touched before it is used: an idle relay does not pay for it.
      slots_(std::make_unique_for_overwrite<Slot[]>(std::size_t{set_count_} * kWays)),
      sets_(std::make_unique<Set[]>(set_count_)) {
  GYRE_ASSERT_CMP(slots, <=, kSlotsMax);
}

// Two halves of the key, each mixed with half of the secret, multiplied to 128 bits and folded:
// without the secret nothing is known of the product.
std::uint32_t KeyCache::set_of(const Bytes32& key) const {
  std::array<std::uint64_t, 4> words;
  std::memcpy(words.data(), key.bytes.data(), sizeof words);
  __extension__ using Product = unsigned __int128;
  const Product product =
      static_cast<Product>(words[0] ^ words[2] ^ secret_[0]) * (words[1] ^ words[3] ^ secret_[1]);
  const std::uint64_t folded =
      static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  return static_cast<std::uint32_t>(folded >> 32) & (set_count_ - 1);
}

const secp256k1_xonly_pubkey* KeyCache::find_or_parse(const Bytes32& key) {
  Slot* ways = nullptr;
  Set* set = nullptr;
  if (set_count_ != 0) {
    const std::uint32_t index = set_of(key);
    set = &sets_[index];
    ways = &slots_[std::size_t{index} * kWays];
    for (std::uint32_t way = 0; way < set->used; ++way) {
      if (ways[way].key != key) continue;
      ++hits_;
      return &ways[way].parsed;
    }
  }
  if (secp256k1_xonly_pubkey_parse(secp256k1_context_static, &uncached_, key.bytes.data()) != 1) {
    return nullptr;
  }
  if (set == nullptr) return &uncached_;
  std::uint8_t way = set->used;
  if (set->used < kWays) {
    ++set->used;
  } else {
    way = set->oldest;
    set->oldest = static_cast<std::uint8_t>((set->oldest + 1) % kWays);
  }
  ways[way] = {key, uncached_};
  return &ways[way].parsed;
}

}  // namespace gyre::nostr

// Which shards an event concerns.

#include <cstring>

#include "gyre/nostr/kind.h"
#include "gyre/storage/store.h"
#include "storage/siphash.h"

namespace gyre::storage {

bool Store::has_foreign_effects(nostr::PackedEventView event) {
  if (event.kind() == nostr::kKindVanish) return true;
  if (event.kind() != nostr::kKindDeletion) return false;
  for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
    const nostr::TagEntry tag = event.tag(i);
    if (tag.letter() == 'e' && tag.has_value() && is_lower_hex(event.tag_value(tag), 64))
      return true;
  }
  return false;
}

ShardId owner_shard(const Bytes32& pubkey, const std::array<std::uint8_t, 16>& key,
                    std::uint32_t shard_count) {
  // Keyed, so that nobody can aim all authors of an attack at one shard.
  std::uint64_t words[2];
  std::memcpy(words, key.data(), sizeof words);
  SipHash24 hash(words[0], words[1]);
  hash.absorb(pubkey.bytes);
  return static_cast<ShardId>(hash.finish() % shard_count);
}

}  // namespace gyre::storage

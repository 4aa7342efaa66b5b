// Small value types that name things across layers.
#pragma once

#include <cstdint>

namespace gyre {

// A shard: one core, one loop, one store partition. Dense, from 0.
using ShardId = std::uint16_t;
inline constexpr std::uint32_t kShardsMax = 256;

// One connection of one shard: a slot and the generation that tells its successive owners apart.
struct ConnectionId {
  std::uint32_t slot = 0;
  std::uint32_t generation = 0;
  friend bool operator==(const ConnectionId&, const ConnectionId&) = default;
};

inline constexpr std::uint64_t kKiB = 1024;
inline constexpr std::uint64_t kMiB = 1024 * kKiB;

}  // namespace gyre

// From what an operator wrote to what the shards run with.
#pragma once

#include "absl/status/status.h"
#include "app/config.h"
#include "gyre/relay/settings.h"
#include "gyre/storage/store.h"

namespace gyre::app {

// Of one of `shard_count` shards. `listen` as bound, with the port in use: own URLs derive from it
// unless they are configured.
[[nodiscard]] relay::Settings relay_settings(const Config& config, const std::string& listen,
                                             std::uint32_t shard_count);
// What can only be judged when the number of shards is known.
[[nodiscard]] absl::Status check_for_shards(const Config& config, std::uint32_t shard_count);
[[nodiscard]] storage::StoreOptions store_options(const Config& config);
// How much of its log one of `shards` shards keeps in memory, if the process may use
// `memory_bytes` and the shard's index takes `index_bytes`.
[[nodiscard]] std::uint64_t resident_bytes_of_shard(const Config& config,
                                                    std::uint64_t memory_bytes,
                                                    std::uint32_t shards,
                                                    std::uint64_t index_bytes);

}  // namespace gyre::app

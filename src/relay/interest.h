// Interest: which shards have live subscriptions, so that events are published only where somebody
// may listen. One counter for each shard, written by that shard, read by all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "gyre/base/ids.h"

namespace gyre::relay {

class Interest {
 public:
  explicit Interest(std::uint32_t shard_count) : flags_(std::make_unique<Flag[]>(shard_count)) {}

  // Release, paired with the acquire below; a query that follows on the mesh orders it as well.
  void set(ShardId shard, bool has_subscriptions) {
    flags_[shard].value.store(has_subscriptions, std::memory_order_release);
  }
  [[nodiscard]] bool has_subscriptions(ShardId shard) const {
    return flags_[shard].value.load(std::memory_order_acquire);
  }

 private:
  struct alignas(128) Flag {
    std::atomic<bool> value{false};
  };
  std::unique_ptr<Flag[]> flags_;
};

}  // namespace gyre::relay

// OfflineStore: a whole data directory opened by a tool, all shards in one process, without a
// relay.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/storage/data_directory.h"
#include "gyre/storage/store.h"

namespace gyre::app {

// Whoever may open the folder may read all of it.
class OfflineAccess final : public storage::ReadAccess {
 public:
  [[nodiscard]] bool may_read(nostr::PackedEventView) const override { return true; }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override { return {}; }
  [[nodiscard]] bool may_read_some_restricted() const override { return true; }
};

class OfflineStore {
 public:
  // kMustExist: an error if there is no store at `path` (export). kCreate: made for `shard_count`
  // shards if there is none (import). The error for a store in use names the cure. `clock`, which
  // outlives the store, says what has expired; null: the time of day.
  enum class Mode : std::uint8_t { kMustExist, kCreate };
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<OfflineStore>> open(
      const std::string& path, Mode mode, std::uint32_t shard_count,
      const storage::StoreOptions& options, const Clock* clock = nullptr);

  [[nodiscard]] std::uint32_t shard_count() const { return data_->shard_count(); }
  [[nodiscard]] storage::Store& shard(ShardId id) { return *stores_[id]; }
  [[nodiscard]] ShardId owner_of(const Bytes32& pubkey) const {
    return storage::owner_shard(pubkey, data_->key(), data_->shard_count());
  }
  [[nodiscard]] const std::array<std::uint8_t, 16>& key() const { return data_->key(); }
  [[nodiscard]] std::string shard_path(ShardId id) const { return data_->shard_path(id); }
  [[nodiscard]] const Clock& clock() const { return clock_; }

  // Writes and syncs everything.
  [[nodiscard]] absl::Status close();

 private:
  SystemClock clock_;
  SystemRandom random_;
  std::unique_ptr<storage::DataDirectory> data_;
  std::vector<std::unique_ptr<storage::Store>> stores_;
};

}  // namespace gyre::app

// `gyre stats`: what a store holds, also under a running relay.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/shard_statistics.h"

namespace gyre::app {

struct StoreStats {
  std::vector<storage::ShardStatistics> shards;
};

// Takes no lock and changes nothing.
[[nodiscard]] absl::StatusOr<StoreStats> run_stats(const std::string& store_path);

// The sum of the shards; segments are left out, for their numbers mean nothing there.
[[nodiscard]] storage::ShardStatistics total_of(const StoreStats& stats);

// Tables for people, and one JSON object for programs.
[[nodiscard]] std::string stats_text(const StoreStats& stats);
[[nodiscard]] std::string stats_json(const StoreStats& stats);

}  // namespace gyre::app

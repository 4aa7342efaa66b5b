// `gyre explain`: how a store answers a filter, and what that reads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/ids.h"
#include "gyre/storage/query.h"

namespace gyre::app {

struct ExplainOptions {
  std::string store_path;
  std::string filter;  // A NIP-01 filter; without a limit all that matches is read.
};

// Of one shard that a relay would ask.
struct ShardExplanation {
  ShardId shard = 0;
  storage::FilterPlan plan;
  storage::ScanStatistics read;
  std::uint64_t events = 0;
  std::uint64_t first_us = 0;  // Part of the store may have come from the disk.
  std::uint64_t again_us = 0;  // The same once more, from memory.
};

struct Explanation {
  std::string filter;
  std::int64_t since = 0;
  std::int64_t until = 0;
  std::uint64_t limit = 0;        // UINT64_MAX: none.
  std::uint32_t shard_count = 0;  // Of the store.
  std::vector<ShardExplanation> shards;
};

// Opens the store as export does: no relay may have it open.
[[nodiscard]] absl::StatusOr<Explanation> run_explain(const ExplainOptions& options);

// Both end with a line break.
[[nodiscard]] std::string to_text(const Explanation& explanation);
[[nodiscard]] std::string to_json(const Explanation& explanation);

}  // namespace gyre::app

// What a shard holds, read from its files without a lock: a relay may have it open.
//
// Up to the last checkpoint the directory tells, without touching an event; behind it the log is
// read. So the numbers are those of a moment after the call began.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/file.h"
#include "gyre/storage/shard_check.h"

namespace gyre::storage {

// Dead: still in the log, until compaction drops it.
struct AliveAndDead {
  std::uint64_t alive = 0;
  std::uint64_t dead = 0;
};

struct ShardStatistics {
  struct Segment {
    std::uint32_t number = 0;
    std::uint64_t bytes = 0;       // Of the file.
    std::uint64_t dead_bytes = 0;  // Of records of dead events, and of what follows them.
    bool is_compacted = false;
  };

  std::map<std::uint16_t, AliveAndDead> kinds;
  AliveAndDead events;
  std::uint64_t dropped_events = 0;                // Dead ones that the log no longer has.
  std::optional<std::uint64_t> oldest_created_at;  // Of those alive.
  std::optional<std::uint64_t> newest_created_at;
  std::vector<Segment> segments;
  std::uint64_t log_bytes = 0;
  std::uint64_t directory_bytes = 0;
  std::uint64_t run_bytes = 0;  // Of both kinds of runs.
  std::uint64_t runs = 0;
  std::uint64_t dead_runs = 0;
  std::uint64_t postings = 0;
  std::uint64_t dead_postings = 0;
  std::uint64_t unindexed_records = 0;  // Of the log behind the last checkpoint.
};

// kUnavailable if checkpoints came so fast that no moment could be seen; again may succeed.
[[nodiscard]] absl::StatusOr<ShardStatistics> survey_shard(FileSystem& files,
                                                           const ShardPlace& place);

}  // namespace gyre::storage

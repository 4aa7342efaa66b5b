// for_each_shard: does the same with several shards at once, as long commands do.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "gyre/base/ids.h"

namespace gyre::app {

// How far all of them are together. Threads add, the caller's thread draws.
struct SharedProgress {
  std::atomic<std::uint64_t> bytes{0};
  std::atomic<std::uint64_t> count{0};  // Of what the line counts, if not bytes.
};

// Calls `work(shard)` for 0 to shard_count - 1, from as many threads as there are cores, and shows
// progress on a terminal meanwhile. Of several errors, that of the lowest shard is returned. An
// interrupted command (app/interrupt.h) is told by kCancelled: `work` looks at is_interrupted()
// where it is safe to end.
[[nodiscard]] absl::Status for_each_shard(std::uint32_t shard_count, const std::string& unit,
                                          std::uint64_t bytes_total, SharedProgress& progress,
                                          const std::function<absl::Status(ShardId)>& work);

// kCancelled once the command has been interrupted.
[[nodiscard]] absl::Status interruption();

}  // namespace gyre::app

// `gyre scan` and `gyre count`: what lies in a store that no relay has open.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/event_finder.h"

namespace gyre::app {

struct ScanOptions {
  std::string store_path;
  std::vector<std::string> filters;  // Any of them; none: everything.
  std::string file;                  // Empty or "-": standard output.
  std::optional<std::uint64_t> limit;
  StoredOrder order = StoredOrder::kOldestStoredFirst;
  DeadEvents dead = DeadEvents::kLeftOut;
  bool counts_only = false;
  bool shows_where = false;  // Shard, sequence and place in the log around each event.
};

// Writes events shard by shard, in the order in which they were stored, as they lie: nothing is
// verified and nothing left out but what the options say. The number of events; kCancelled if it
// was interrupted.
[[nodiscard]] absl::StatusOr<std::uint64_t> run_scan(const ScanOptions& options);

struct CountOptions {
  std::string store_path;
  std::vector<std::string> filters;
};

// How many events are alive that match any of the filters, by the index: what COUNT would answer a
// client that may read everything. A filter's limit counts.
[[nodiscard]] absl::StatusOr<std::uint64_t> run_count(const CountOptions& options);

}  // namespace gyre::app

// `gyre check --repair`: makes a damaged store whole again, with a list of what is lost.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/store_check.h"
#include "gyre/storage/shard_repair.h"

namespace gyre::app {

struct RepairReport {
  CheckReport before;
  CheckReport after;  // Empty if nothing was wrong.
  struct Shard {
    ShardId number = 0;
    storage::ShardRepair repair;
    std::uint64_t retired_again = 0;  // Dead events whose record of death was lost.
  };
  std::vector<Shard> shards;  // Those that were repaired.
  std::string path;           // Of the report that lies in the store's folder; empty: none.
};

// Checks, repairs the shards in which something is wrong, makes their index again and checks once
// more. kCancelled if it was interrupted: then run it again.
[[nodiscard]] absl::StatusOr<RepairReport> run_repair(const CheckOptions& options);

// What was lost and where the originals are.
[[nodiscard]] std::string repair_text(const RepairReport& report);

}  // namespace gyre::app

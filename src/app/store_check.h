// `gyre check`: reads a store that no relay has open, and says what is wrong with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/ids.h"
#include "gyre/storage/data_directory.h"
#include "gyre/storage/shard_check.h"

namespace gyre::app {

struct CheckOptions {
  std::string store_path;
  std::optional<std::uint32_t> shard;  // One of them only.
  bool verifies_signatures = false;
};

struct CheckReport {
  std::vector<storage::ShardCheck> shards;  // Empty ones for those that were not looked at.
  double seconds = 0;

  [[nodiscard]] std::uint64_t finding_count() const;
};

// Shards are read at the same time, one to a core. kCancelled if it was interrupted.
[[nodiscard]] absl::StatusOr<CheckReport> run_check(const CheckOptions& options);
// The same of a store that is open already.
[[nodiscard]] absl::StatusOr<CheckReport> check_store(const storage::DataDirectory& data,
                                                      const CheckOptions& options);

// What the operator reads: each finding with its cure, and a summary.
[[nodiscard]] std::string check_text(const CheckReport& report);

// Opens an existing store for its lock and its key. kNotFound, with the cure, if there is none.
[[nodiscard]] absl::StatusOr<std::unique_ptr<storage::DataDirectory>> open_existing_store(
    const std::string& path);

}  // namespace gyre::app

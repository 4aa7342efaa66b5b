// `gyre compact`: gives back the space of dead events in a store that no relay has open.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace gyre::app {

struct CompactOptions {
  std::string store_path;
};

struct CompactReport {
  std::uint64_t bytes_before = 0;  // Of log and index, all shards.
  std::uint64_t bytes_after = 0;
  std::uint64_t segments = 0;   // Files of the log that were written anew.
  std::uint64_t untouched = 0;  // Files that were to be and could not; the log says why.
  bool was_interrupted = false;
};

// Ends early, and cleanly, when the process is interrupted: what was given back by then stays given
// back, and another run goes on.
[[nodiscard]] absl::StatusOr<CompactReport> run_compact(const CompactOptions& options);

}  // namespace gyre::app

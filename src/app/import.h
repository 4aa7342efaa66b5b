// `gyre import`: events from JSONL into a store that no relay has open.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace gyre::app {

struct ImportOptions {
  std::string store_path;
  std::string file;                // Empty or "-": standard input.
  std::uint32_t shards = 0;        // For a new store; 0: as many as there are cores.
  bool accepts_protected = false;  // NIP-70: events meant to be published by their author alone.
  std::vector<std::string> relay_urls;  // Requests to vanish that name one of these take effect.
  std::uint32_t line_bytes_max = 512 * 1024;
};

struct ImportReport {
  std::uint64_t lines = 0;  // Without empty ones.
  std::uint64_t added = 0;
  std::uint64_t duplicates = 0;
  std::map<std::string, std::uint64_t> refused;  // By reason.
  std::string failure;  // Why it ended before the end of the file; empty: it did not.
  bool was_interrupted = false;
};

// Every event is checked as if it came from a client: shape, id, signature, deletions, expiration.
// Refused lines are reported to standard error by number and reason, never with their content.
// Interrupting it keeps what was added; running it again skips that as duplicates.
[[nodiscard]] absl::StatusOr<ImportReport> run_import(const ImportOptions& options);

}  // namespace gyre::app

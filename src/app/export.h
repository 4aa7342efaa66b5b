// `gyre export`: events of a store that no relay has open, as JSONL, newest first.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace gyre::app {

struct ExportOptions {
  std::string store_path;
  std::string filter = "{}";  // A NIP-01 filter; its limit counts.
  std::string file;           // Empty or "-": standard output.
};

// The number of events written. Every event is verified on its way out (id and signature), so a
// damaged one is reported instead of passed on.
[[nodiscard]] absl::StatusOr<std::uint64_t> run_export(const ExportOptions& options);

}  // namespace gyre::app

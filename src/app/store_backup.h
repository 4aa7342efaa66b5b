// `gyre backup`: a copy of a store, made while a relay may be running on it.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"

namespace gyre::app {

struct BackupOptions {
  std::string store_path;
  std::string to;  // Missing, empty, or an older backup of the same store.
};

struct BackupReport {
  std::uint64_t copied_bytes = 0;
  std::uint64_t kept_bytes = 0;  // Of the older backup.
  std::uint64_t records = 0;
  bool has_index = true;  // False: the first start of the copy makes its index from the log.
  double seconds = 0;
};

// Everything that the relay had acknowledged before the backup began is in it. The copy is a store:
// `gyre relay` runs on it. An interrupted backup (kCancelled) leaves the older one intact, and the
// next call goes on.
[[nodiscard]] absl::StatusOr<BackupReport> run_backup(const BackupOptions& options);

}  // namespace gyre::app

// Manifest: what the derived files of a shard amount to. One small text-free file, replaced
// atomically.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

struct Manifest {
  // Everything the log holds before this point is in the directory file and the runs; recovery
  // replays the log from here.
  LogPosition log_position;
  std::uint64_t log_record_number = 0;
  Sequence directory_rows = 0;
  std::uint64_t events_alive = 0;  // Of those rows; so that statistics need no scan.
  std::vector<std::string> runs;   // File names, oldest first.
  std::uint32_t next_run_number = 1;
};

// kNotFound if there is none (a new store); kDataLoss if it fails its checksum or version.
[[nodiscard]] absl::StatusOr<Manifest> read_manifest(FileSystem& files, std::string_view path);
[[nodiscard]] absl::Status write_manifest(FileSystem& files, std::string_view path,
                                          const Manifest& manifest);

}  // namespace gyre::storage

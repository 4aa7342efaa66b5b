// Manifest: what the derived files of a shard amount to. One small text-free file, replaced
// atomically.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/ids.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

// Whose files these are: a folder that stands in another shard's place is noticed by it.
struct ShardIdentity {
  std::uint64_t store = 0;  // Keyed hash that tells stores apart and says nothing of the key.
  std::uint32_t shard = 0;
  friend bool operator==(const ShardIdentity&, const ShardIdentity&) = default;
};
[[nodiscard]] ShardIdentity shard_identity(const std::array<std::uint8_t, 16>& store_key,
                                           ShardId shard);

struct Manifest {
  ShardIdentity identity;
  // Everything the log holds before this point is in the directory file and the runs; recovery
  // replays the log from here.
  LogPosition log_position;
  std::uint64_t log_record_number = 0;
  Sequence directory_rows = 0;
  std::uint64_t events_alive = 0;      // Of those rows; so that statistics need no scan.
  std::vector<std::string> runs;       // File names, oldest first.
  std::vector<std::string> dead_runs;  // The same of dead postings (PostingIndex).
  std::uint32_t next_run_number = 1;
};

// kNotFound if there is none (a new store); kDataLoss if it fails its checksum or version,
// kFailedPrecondition if it is another shard's or store's. Of an older version:
// is_older_derived_version() (corruption.h).
[[nodiscard]] absl::StatusOr<Manifest> read_manifest(FileSystem& files, std::string_view path,
                                                     const ShardIdentity& identity);
[[nodiscard]] absl::Status write_manifest(FileSystem& files, std::string_view path,
                                          const Manifest& manifest);
// The two halves of write_manifest(). If the first fails, the old manifest stands for sure; if the
// second fails, either may be on the disk.
[[nodiscard]] absl::Status stage_manifest(FileSystem& files, std::string_view path,
                                          const Manifest& manifest);
[[nodiscard]] absl::Status publish_manifest(FileSystem& files, std::string_view path);

}  // namespace gyre::storage

// Backup of one shard, which a relay may have open meanwhile.
//
// The log alone is the truth, and a log only grows: a copy of its segments, cut behind the last
// whole record, is a store as it was at some moment after the copying began. Nothing that had been
// acknowledged before is missing. Manifest, directory and runs are copied too, so that a restored
// store need not make its index again; they fit the log if no checkpoint and no merge has come in
// between, else they are copied once more.
//
// The order makes every moment harmless. Manifest first, then the runs that it names, which never
// change; then the directory, whose rows may be dead by later records; then the log, which has
// those. The new manifest comes last. So an interrupted backup leaves the older one, with more of
// the log.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gyre/base/ids.h"
#include "gyre/storage/file.h"

namespace gyre::storage {

struct ShardBackup {
  std::string from;  // The folders. `to` is there, and is empty or has an older backup.
  std::string to;
  std::array<std::uint8_t, 16> key;  // Of the store.
  ShardId shard = 0;
  // Hears of bytes copied or found unchanged; its status ends the backup.
  std::function<absl::Status(std::uint64_t)> advance;
};

struct ShardBackupReport {
  std::uint64_t copied_bytes = 0;
  std::uint64_t kept_bytes = 0;  // Not copied again, because the older backup has them.
  std::uint64_t records = 0;     // In the log.
  bool has_index = false;        // False: the restored store makes its index from the log.
};

// Refuses, and changes nothing, if the copy holds records that the store does not have: it has been
// used as a store itself, or the store was put back to an older state.
[[nodiscard]] absl::Status check_backup_target(FileSystem& files, const ShardBackup& backup);

// Every record, row and block that is copied is checked on its way. kDataLoss if the store itself
// is damaged.
[[nodiscard]] absl::StatusOr<ShardBackupReport> back_up_shard(FileSystem& files,
                                                              const ShardBackup& backup);

// What back_up_shard() will copy or skip, for showing progress.
[[nodiscard]] absl::StatusOr<std::uint64_t> bytes_to_back_up(FileSystem& files,
                                                             std::string_view folder);

}  // namespace gyre::storage

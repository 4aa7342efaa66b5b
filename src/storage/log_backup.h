// LogBackup: the part of a shard's backup that copies the segments of the log.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gyre/storage/shard_backup.h"

namespace gyre::storage {

class LogBackup {
 public:
  LogBackup(FileSystem& files, const ShardBackup& backup, ShardBackupReport& report)
      : files_(files), backup_(backup), report_(report) {}

  // As check_backup_target().
  [[nodiscard]] absl::Status check_target() const;
  // Copies what the older backup lacks, in order, so that the copy is a log at every moment.
  // `before_replacing` is called before a segment of the older backup gives way to a compacted one.
  [[nodiscard]] absl::Status copy(const std::function<absl::Status()>& before_replacing);

 private:
  // A file of a log and what its first bytes say.
  struct Segment {
    std::uint32_t number = 0;
    std::uint64_t size = 0;
    std::vector<std::uint8_t> header;
  };
  [[nodiscard]] absl::StatusOr<Segment> look(const std::string& folder, std::uint32_t number) const;
  [[nodiscard]] absl::StatusOr<bool> begins_with(const Segment& whole, const Segment& part) const;
  [[nodiscard]] absl::Status copy_segment(std::uint32_t number);
  // Where the whole records of an unfinished copy end, and the number of the record to come.
  [[nodiscard]] absl::StatusOr<std::uint64_t> verify(const std::string& path, std::uint32_t number);
  [[nodiscard]] std::string path_of(const std::string& folder, std::uint32_t number) const;

  FileSystem& files_;
  const ShardBackup& backup_;
  ShardBackupReport& report_;
  std::uint32_t last_ = 0;         // Number of the store's last segment, and
  std::uint32_t last_copied_ = 0;  // that of the older backup.
};

}  // namespace gyre::storage

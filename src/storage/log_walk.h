// walk_log: reads everything that can be read of a shard's log, and changes nothing.
//
// Where recovery refuses, the walk goes on: it tells what is damaged and how much is lost by it,
// and continues with the next whole record. So one walk serves those who judge a log (`gyre
// check`), those who save what is left of it (`gyre check --repair`), and those who copy events out
// of it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gyre/storage/event_log.h"
#include "gyre/storage/file.h"
#include "storage/log_format.h"

namespace gyre::storage {

// A stretch of the log without records that should have some.
struct DamagedStretch {
  std::string path;
  std::uint32_t segment = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;  // Up to the next whole record, or the end of the file.
  // Where the stretch begins as first written; the same as `offset` unless it was compacted.
  std::uint32_t as_written = 0;
  std::uint64_t first_number = 0;  // Of the first record that is lost,
  std::uint64_t records = 0;       // and how many are, dropped ones of a lost gap included.
  bool is_whole_segment = false;   // The file is missing, or no part of it can be read.
  std::string what;
};

class LogVisitor {
 public:
  virtual ~LogVisitor() = default;
  // Before the records of a segment that can be read; what its header says, or what was made of it.
  [[nodiscard]] virtual absl::Status begin(const SegmentHeader& /*header*/,
                                           std::uint64_t /*file_bytes*/) {
    return absl::OkStatus();
  }
  // In order. The payload lives until the call returns. A status ends the walk.
  [[nodiscard]] virtual absl::Status take(const LogRecord& record) = 0;
  virtual void take(const DamagedStretch& damage) = 0;
  // About once for each MiB that has been read. A status ends the walk.
  [[nodiscard]] virtual absl::Status advance(std::uint64_t bytes) = 0;
};

struct LogExtent {
  LogPosition end;
  std::uint64_t next_number = 0;
  std::uint64_t torn_bytes = 0;  // Behind the end: what the next start will cut.
  std::uint64_t bytes = 0;
  std::uint32_t segments = 0;
};

// `durable_until`: how far the log is known to have been durable (the manifest's position), so that
// nothing before it can pass for a torn tail. Errors are those of the file system and the
// visitor's.
[[nodiscard]] absl::StatusOr<LogExtent> walk_log(FileSystem& files, std::string_view folder,
                                                 LogPosition durable_until, LogVisitor& visitor);

// Numbers of the segments in the folder, ascending.
[[nodiscard]] absl::StatusOr<std::vector<std::uint32_t>> list_segments(FileSystem& files,
                                                                       std::string_view folder);

}  // namespace gyre::storage

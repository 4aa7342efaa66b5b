// Recovery: from the files of a log to its records and its end.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/event_log.h"
#include "storage/log_segment.h"

namespace gyre::storage {

struct RecoveredLog {
  // segments[i] has number kFirstSegment + i. Empty if there is no log yet.
  std::vector<std::unique_ptr<LogSegment>> segments;
  LogPosition end;
  std::uint64_t next_number = 0;
  std::uint64_t sealed_bytes = 0;  // Used bytes of all segments but the last.
  // The log ends with a mark, or has no record in its last segment.
  bool is_cleanly_ended = false;
};

// As EventLog::open describes. Changes nothing but the torn tail, which is durably gone when this
// returns; and unfinished segments, which are removed.
[[nodiscard]] absl::StatusOr<RecoveredLog> recover_log(
    const LogSegment::Place& place, std::uint64_t segment_bytes, EventLog::Start from,
    const std::function<absl::Status(const LogRecord&)>& replay, LogRecovery& recovery);

}  // namespace gyre::storage

// LogWriter: does the blocking work of one log: writes, syncs, reserves, and makes segments.
//
// The shard posts jobs and takes results, both through rings of one producer and one consumer; a
// semaphore lets the writer's thread sleep. There is at most one commit in flight (the next takes
// all that was appended meanwhile: group commit) and one job that makes space, so the rings cannot
// overflow. Without a thread, run_once() does the same in the caller's.
//
// After a failed write or sync the writer does nothing more: the kernel may have dropped the pages,
// and a second sync could succeed without them.
#pragma once

#include <semaphore.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "gyre/base/spsc_ring.h"
#include "gyre/storage/format.h"
#include "storage/log_segment.h"
#include "storage/log_tail.h"

namespace gyre::storage {

enum class LogSync : std::uint8_t { kNo, kYes };

struct LogJob {
  enum class Kind : std::uint8_t {
    kCommit,   // Write `pieces`, beginning new segments as they come; then sync if asked to.
    kReserve,  // Reserve `bytes` of `segment` from its reserved end.
    kPrepare,  // Prepare a segment `number` with `segment_id`, reserving `bytes` of it.
    kStop,     // End the thread.
  };
  Kind kind = Kind::kStop;
  LogSync sync = LogSync::kNo;
  const std::vector<LogPiece>* pieces = nullptr;  // The writer's until the result.
  LogSegment* segment = nullptr;
  std::uint64_t bytes = 0;
  std::uint32_t number = 0;
  std::uint64_t segment_id = 0;
};

struct LogResult {
  LogJob::Kind kind = LogJob::Kind::kStop;
  bool has_failed = false;          // See failure(); there will be no more results.
  bool is_disk_full = false;        // The job was done in part or not at all; try again later.
  bool lacks_descriptors = false;   // It is not the disk, but descriptors or mappings.
  LogPosition written;              // kCommit
  LogPosition durable;              // kCommit
  std::uint64_t written_bytes = 0;  // kCommit: by this job.
  LogSegment* segment = nullptr;    // kPrepare: the receiver's now, or null.
  std::uint64_t bytes = 0;          // kReserve: reserved.
};

class LogWriter {
 public:
  // `active` is the segment that ends the log, and `end` its end; everything before is durable.
  LogWriter(const LogSegment::Place& place, std::uint64_t segment_bytes, LogSegment& active,
            LogPosition end);
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  // The shard's side.
  void post(const LogJob& job);
  [[nodiscard]] bool take_result(LogResult& result);
  // What failed. Requires: a result said so.
  [[nodiscard]] const absl::Status& failure() const { return failure_; }

  // `on_progress` is called by the thread after each result.
  void start_thread(std::function<void()> on_progress);
  // Ends the thread after the jobs posted so far; fine without one.
  void stop_thread();
  // Does one job in the caller's thread; false if there was none. Requires: no thread.
  bool run_once();

 private:
  bool run_next_job();
  void run_thread();
  [[nodiscard]] LogResult commit(const LogJob& job);
  [[nodiscard]] absl::Status write_pieces(const std::vector<LogPiece>& pieces, LogResult& result);
  [[nodiscard]] absl::Status write_neighbours(const std::vector<LogPiece>& pieces,
                                              std::size_t& next);
  [[nodiscard]] absl::Status begin_segment(LogSegment& segment);
  [[nodiscard]] absl::Status sync();
  [[nodiscard]] LogResult reserve(const LogJob& job);
  [[nodiscard]] LogResult prepare(const LogJob& job);
  void fail(absl::Status failure, LogResult& result);

  static constexpr std::size_t kRingSlots = 8;

  const LogSegment::Place place_;
  const std::uint64_t segment_bytes_;
  LogSegment* active_;  // Null between the seal of one segment and the beginning of the next.
  LogPosition written_;
  LogPosition durable_;
  std::vector<ByteSpan> parts_;
  absl::Status failure_;  // Written before the result that announces it is published.

  SpscRing<LogJob> jobs_{kRingSlots};
  SpscRing<LogResult> results_{kRingSlots};
  // Not std::counting_semaphore, which spins before it sleeps: cores belong to the shards.
  sem_t wanted_;
  std::function<void()> on_progress_;
  bool is_stopping_ = false;  // The thread's own.
  std::thread thread_;
};

}  // namespace gyre::storage

#include "storage/log_writer.h"

#include <pthread.h>

#include <cerrno>
#include <utility>

#include "gyre/base/assert.h"

namespace gyre::storage {

LogWriter::LogWriter(const LogSegment::Place& place, std::uint64_t segment_bytes,
                     LogSegment& active, LogPosition end)
    : place_(place), segment_bytes_(segment_bytes), active_(&active), written_(end), durable_(end) {
  sem_init(&wanted_, 0, 0);
}

LogWriter::~LogWriter() {
  stop_thread();
  // Segments that nobody has taken are ours to free.
  LogResult result;
  while (results_.try_pop(result)) delete result.segment;
  sem_destroy(&wanted_);
}

void LogWriter::post(const LogJob& job) {
  const bool has_room = jobs_.try_push(job);
  GYRE_ASSERT(has_room);
  jobs_.publish();
  if (thread_.joinable()) sem_post(&wanted_);
}

bool LogWriter::take_result(LogResult& result) { return results_.try_pop(result); }

void LogWriter::start_thread(std::function<void()> on_progress) {
  GYRE_ASSERT(!thread_.joinable());
  on_progress_ = std::move(on_progress);
  is_stopping_ = false;
  thread_ = std::thread([this] { run_thread(); });
  pthread_setname_np(thread_.native_handle(), "gyre-log");
  sem_post(&wanted_);  // For what was posted before.
}

void LogWriter::stop_thread() {
  if (!thread_.joinable()) return;
  post({.kind = LogJob::Kind::kStop});
  thread_.join();
}

bool LogWriter::run_once() {
  GYRE_ASSERT(!thread_.joinable());
  return run_next_job();
}

void LogWriter::run_thread() {
  while (!is_stopping_) {
    while (sem_wait(&wanted_) != 0) GYRE_ASSERT_CMP(errno, ==, EINTR);
    while (!is_stopping_ && run_next_job()) on_progress_();
  }
}

bool LogWriter::run_next_job() {
  LogJob job;
  if (!jobs_.try_pop(job)) return false;
  if (job.kind == LogJob::Kind::kStop) {
    is_stopping_ = true;
    return true;
  }
  if (!failure_.ok()) return true;
  LogResult result;
  switch (job.kind) {
    case LogJob::Kind::kCommit: result = commit(job); break;
    case LogJob::Kind::kReserve: result = reserve(job); break;
    case LogJob::Kind::kPrepare: result = prepare(job); break;
    case LogJob::Kind::kStop: break;
  }
  result.kind = job.kind;
  const bool has_room = results_.try_push(result);
  GYRE_ASSERT(has_room);
  results_.publish();
  return true;
}

LogResult LogWriter::commit(const LogJob& job) {
  LogResult result;
  absl::Status status = write_pieces(*job.pieces, result);
  if (is_out_of_resources(status) && active_ == nullptr) {
    // The next segment could not begin. Its records stay in the tail.
    result.is_disk_full = true;
    result.lacks_descriptors = absl::IsUnavailable(status);
    status = absl::OkStatus();
  }
  if (status.ok() && job.sync == LogSync::kYes) status = sync();
  if (!status.ok()) fail(std::move(status), result);
  result.written = written_;
  result.durable = durable_;
  return result;
}

absl::Status LogWriter::write_pieces(const std::vector<LogPiece>& pieces, LogResult& result) {
  for (std::size_t next = 0; next < pieces.size();) {
    if (pieces[next].segment != active_) {
      absl::Status status = begin_segment(*pieces[next].segment);
      if (!status.ok()) return status;
    }
    const std::size_t first = next;
    if (absl::Status status = write_neighbours(pieces, next); !status.ok()) return status;
    for (std::size_t i = first; i < next; ++i) result.written_bytes += pieces[i].bytes.size();
  }
  return absl::OkStatus();
}

// Writes the pieces of one segment from `next` on with one call, and moves `next` behind them.
absl::Status LogWriter::write_neighbours(const std::vector<LogPiece>& pieces, std::size_t& next) {
  const LogPosition begin = pieces[next].begin;
  std::uint32_t end = begin.offset();
  parts_.clear();
  for (; next < pieces.size() && pieces[next].segment == active_; ++next) {
    GYRE_ASSERT_CMP(pieces[next].begin.offset(), ==, end);
    parts_.push_back(pieces[next].bytes);
    end += static_cast<std::uint32_t>(pieces[next].bytes.size());
  }
  if (absl::Status status = active_->file().write_at(begin.offset(), parts_); !status.ok()) {
    return status;
  }
  written_ = LogPosition::at(begin.segment(), end);
  // The shard will read these pages through the mapping: the faults are better taken here.
  active_->file().populate(begin.offset(), end - begin.offset());
  return absl::OkStatus();
}

// The old segment is sealed before the new one has a record, so that only the last segment of a log
// can be torn.
absl::Status LogWriter::begin_segment(LogSegment& segment) {
  if (active_ != nullptr) {
    if (absl::Status status = active_->seal(written_.offset()); !status.ok()) return status;
    durable_ = written_;
    active_ = nullptr;
  }
  if (absl::Status status = segment.begin(place_); !status.ok()) return status;
  active_ = &segment;
  return absl::OkStatus();
}

absl::Status LogWriter::sync() {
  if (durable_ == written_) return absl::OkStatus();
  if (absl::Status status = active_->file().sync_data(); !status.ok()) return status;
  durable_ = written_;
  return absl::OkStatus();
}

LogResult LogWriter::reserve(const LogJob& job) {
  LogResult result;
  auto reserved = reserve_what_fits(job.segment->file(), job.segment->reserved_end(), job.bytes);
  if (!reserved.ok()) {
    fail(reserved.status(), result);
    return result;
  }
  result.bytes = *reserved;
  result.is_disk_full = *reserved == 0;
  return result;
}

LogResult LogWriter::prepare(const LogJob& job) {
  LogResult result;
  auto segment = LogSegment::prepare(place_, job.number, job.segment_id, segment_bytes_, job.bytes);
  if (segment.ok()) {
    result.segment = segment->release();
  } else if (is_out_of_resources(segment.status())) {
    result.is_disk_full = true;
    result.lacks_descriptors = absl::IsUnavailable(segment.status());
  } else {
    fail(segment.status(), result);
  }
  return result;
}

void LogWriter::fail(absl::Status failure, LogResult& result) {
  failure_ = std::move(failure);
  result.has_failed = true;
}

}  // namespace gyre::storage

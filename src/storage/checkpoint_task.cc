#include "storage/checkpoint_task.h"

#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/log.h"

namespace gyre::storage {
namespace {

// Between two attempts to write a checkpoint that failed (the disk may be full).
constexpr std::uint64_t kRetryNs = 2'000'000'000;

void install_table(PostingIndex& postings, const std::string& run) {
  if (run.empty()) {
    postings.drop_empty_frozen();
  } else {
    postings.install_run(run);
  }
}

}  // namespace

void CheckpointTask::freeze(EventLog::Start point, std::uint64_t events_alive) {
  GYRE_ASSERT(!is_under_way_);
  is_under_way_ = true;
  point_ = point;
  events_alive_ = events_alive;
  postings_.freeze();
  dead_postings_.freeze();
  delta_ = &directory_.freeze();
  directory_rows_ = directory_.next_sequence();
}

bool CheckpointTask::prepare() {
  if (!is_under_way_ || durable_ < point_.position) return false;
  if (has_failed_ && clock_.monotonic_ns() < retry_at_ns_) return false;
  begin_attempt();
  return true;
}

// Runs may have been merged since the last attempt, so each one begins with the manifest of now.
void CheckpointTask::begin_attempt() {
  run_.clear();
  dead_run_.clear();
  if (postings_.frozen_posting_count() > 0) run_ = manifest_.next_run_name();
  if (dead_postings_.frozen_posting_count() > 0) dead_run_ = manifest_.next_dead_run_name();
  draft_ = manifest_.draft();
  Manifest& next = draft_.manifest;
  next.log_position = point_.position;
  next.log_record_number = point_.number;
  next.events_alive = events_alive_;
  next.directory_rows = directory_rows_;
  if (!run_.empty()) next.runs.push_back(run_);
  if (!dead_run_.empty()) next.dead_runs.push_back(dead_run_);
}

// Reads what is frozen, writes files nobody else writes.
absl::Status CheckpointTask::run() {
  absl::Status status = write_files();
  if (status.ok()) status = manifest_.publish(draft_);
  if (!status.ok() && !draft_.may_be_durable()) {
    // At once: on a full disk they would be in the way of the next attempt.
    for (const std::string& run : {run_, dead_run_}) {
      if (!run.empty()) manifest_.remove_now(run);
    }
  }
  return status;
}

absl::Status CheckpointTask::write_files() {
  if (!run_.empty()) {
    if (absl::Status status = postings_.write_run(run_); !status.ok()) return status;
  }
  if (!dead_run_.empty()) {
    if (absl::Status status = dead_postings_.write_run(dead_run_); !status.ok()) return status;
  }
  return directory_.write(*delta_);
}

void CheckpointTask::finish(const absl::Status& result) {
  if (result.ok()) {
    install();
  } else {
    note_failure(result);
  }
}

void CheckpointTask::install() {
  install_table(postings_, run_);
  install_table(dead_postings_, dead_run_);
  directory_.drop_frozen();
  delta_ = nullptr;
  manifest_.install(draft_);
  is_under_way_ = false;
  has_failed_ = false;
  ++completed_count_;
}

void CheckpointTask::note_failure(const absl::Status& failure) {
  GYRE_LOG(kWarning, "checkpoint of %s failed and will be tried again: %s",
           manifest_.folder().c_str(), failure.ToString().c_str());
  has_failed_ = true;
  ++failed_count_;
  retry_at_ns_ = clock_.monotonic_ns() + kRetryNs;
  if (!draft_.may_be_durable()) return;
  for (const std::string& run : {run_, dead_run_}) {
    if (!run.empty()) manifest_.discard(run);
  }
}

absl::Status CheckpointTask::write_now() {
  GYRE_ASSERT(is_under_way_);
  begin_attempt();
  absl::Status status = run();
  finish(status);
  return status;
}

}  // namespace gyre::storage

// CheckpointTask: moves rows and postings from memory to files and lets the manifest count them.
//
// It goes kIdle -> kFrozen -> kIdle. What is frozen is written only when the log is durable up to
// the freeze: a manifest must never count what a power cut could take from the log.
#pragma once

#include <cstdint>
#include <string>

#include "gyre/base/clock.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/event_log.h"
#include "gyre/storage/posting_index.h"
#include "storage/background_task.h"
#include "storage/shard_manifest.h"

namespace gyre::storage {

class CheckpointTask final : public BackgroundTask {
 public:
  CheckpointTask(ShardManifest& manifest, Directory& directory, PostingIndex& postings,
                 PostingIndex& dead_postings, const Clock& clock)
      : manifest_(manifest),
        directory_(directory),
        postings_(postings),
        dead_postings_(dead_postings),
        clock_(clock) {}

  // Freezes what is in memory. `point` is where the log stands. Requires: !is_under_way().
  void freeze(EventLog::Start point, std::uint64_t events_alive);
  // From freeze() until the manifest that counts it all is durable.
  [[nodiscard]] bool is_under_way() const { return is_under_way_; }
  // How far the log is durable; what was frozen behind that waits.
  void note_durable(LogPosition durable) { durable_ = durable; }
  // Writes what is frozen at once, in the caller's thread. Requires: is_under_way(), the log is
  // durable up to the freeze, and the worker rests.
  [[nodiscard]] absl::Status write_now();

  [[nodiscard]] bool prepare() override;
  [[nodiscard]] absl::Status run() override;
  void finish(const absl::Status& result) override;

  // The last attempt failed.
  [[nodiscard]] bool has_failed() const { return has_failed_; }
  [[nodiscard]] std::uint64_t completed_count() const { return completed_count_; }
  [[nodiscard]] std::uint64_t failed_count() const { return failed_count_; }

 private:
  void begin_attempt();
  [[nodiscard]] absl::Status write_files();
  void install();
  void note_failure(const absl::Status& failure);

  ShardManifest& manifest_;
  Directory& directory_;
  PostingIndex& postings_;
  PostingIndex& dead_postings_;
  const Clock& clock_;

  bool is_under_way_ = false;
  EventLog::Start point_;
  std::uint64_t events_alive_ = 0;
  Sequence directory_rows_ = 0;
  const DirectoryDelta* delta_ = nullptr;
  LogPosition durable_;

  // Of this attempt. A table without postings gets no run.
  std::string run_;
  std::string dead_run_;
  ShardManifest::Draft draft_;
  bool has_failed_ = false;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t completed_count_ = 0;
  std::uint64_t failed_count_ = 0;
};

}  // namespace gyre::storage

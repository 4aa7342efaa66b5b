// CompactionTask: gives the space of dead events back, one segment of the log after the other.
//
// A survey of the directory finds the segments whose dead share exceeds a threshold; those are
// written anew (segment_compactor.h) in slices, the emptiest first. Nothing waits for it: without
// space, or when the disk fails, the segment stays as it is and the task tries again later.
//
// Only deaths in the directory's file count, and only while the manifest covers that file: a death
// that the file has and the manifest has not is replayed after a crash, and whoever replays it
// reads the event.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/storage/event_log.h"
#include "gyre/storage/store.h"
#include "storage/background_task.h"
#include "storage/checkpoint_task.h"
#include "storage/dead_share_survey.h"
#include "storage/segment_compactor.h"
#include "storage/shard_manifest.h"

namespace gyre::storage {

class CompactionTask final : public BackgroundTask {
 public:
  CompactionTask(const ShardManifest& manifest, const Directory& directory, EventLog& log,
                 const CheckpointTask& checkpoint, const TermHasher& hasher, Random& random,
                 const Clock& clock, const CompactionOptions& options);

  // Nothing is compacted before more than `count` checkpoints are completed: the directory's file
  // has deaths that the manifest does not cover.
  void wait_for_checkpoint_after(std::uint64_t count) { ahead_at_ = count; }
  // While the store takes more space than it should, much less than the threshold is worth it.
  void set_hurry(bool has_to_hurry) { has_to_hurry_ = has_to_hurry; }
  // What an event that is alive takes in the log, by the last survey, or else by these alive.
  [[nodiscard]] double bytes_of_event(std::uint64_t events_alive) const;
  // Surveys again at once and takes every segment that has something to give back.
  void compact_all();

  [[nodiscard]] bool prepare() override;
  [[nodiscard]] absl::Status run() override;
  void finish(const absl::Status& result) override;

  // Gives up what is under way, for the end. Requires: the worker rests.
  void abandon();

  // Between the beginning of a survey and the end of the last segment it has found.
  [[nodiscard]] bool is_under_way() const { return state_ != State::kIdle || is_wanted_; }
  struct Statistics {
    std::uint64_t segments_compacted = 0;
    std::uint64_t bytes_given_back = 0;
    std::uint64_t failures = 0;
    std::uint64_t dead_bytes = 0;  // As of the last survey, what was given back since taken off.
  };
  [[nodiscard]] const Statistics& statistics() const { return statistics_; }

 private:
  enum class State : std::uint8_t {
    kIdle,
    kSurvey,
    kCompact,  // queue_.back() is under way, or the next to be.
    kDispose,  // The replaced segment is in use no more.
  };
  [[nodiscard]] bool may_compact() const;
  [[nodiscard]] bool is_survey_due() const;
  void take_sources();
  void begin_survey();
  void take_survey();
  void take_compacted();
  void note_failure(const absl::Status& failure);

  const ShardManifest& manifest_;
  EventLog& log_;
  const CheckpointTask& checkpoint_;
  Random& random_;
  const Clock& clock_;
  const CompactionOptions options_;

  State state_ = State::kIdle;
  bool has_to_hurry_ = false;
  double bytes_of_event_ = 0;  // 0: no survey.
  bool is_wanted_ = false;     // By compact_all().
  bool is_forced_ = false;     // The survey under way, by compact_all().
  CompactionSources sources_;
  std::optional<DeadShareSurvey> survey_;
  bool is_survey_done_ = false;      // The worker's until finish().
  std::vector<SegmentTally> queue_;  // The emptiest last.
  std::uint64_t segment_id_ = 0;     // Of the segment to be written.
  std::unique_ptr<SegmentCompactor> compactor_;
  std::unique_ptr<LogSegment> replaced_;
  bool was_replaced_now_ = false;  // In this turn, in which it may still be read.

  std::optional<std::uint64_t> ahead_at_;  // Checkpoints that were not enough.
  std::optional<std::uint64_t> dead_at_survey_;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t retry_delay_ns_ = 0;
  absl::flat_hash_set<std::uint32_t> refused_;  // Segments that did not agree with the directory.
  Statistics statistics_;
};

}  // namespace gyre::storage

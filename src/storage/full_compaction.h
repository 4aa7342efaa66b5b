// FullCompaction: gives back all the space that a shard can give back, for tools.
//
// Goes over many turns, one step after the other: the segment that is appended to ends, so that it
// is sealed; a checkpoint covers it, and all that has died; then compaction takes every segment
// that has something dead, threshold or not.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "gyre/storage/event_log.h"
#include "storage/checkpoint_task.h"
#include "storage/compaction_task.h"

namespace gyre::storage {

class FullCompaction {
 public:
  // `freeze` begins a checkpoint and returns true, or false if it is not the time.
  FullCompaction(EventLog& log, const CheckpointTask& checkpoint, CompactionTask& compaction,
                 std::function<bool()> freeze)
      : log_(log), checkpoint_(checkpoint), compaction_(compaction), freeze_(std::move(freeze)) {}

  void start() { step_ = Step::kEndSegment; }
  [[nodiscard]] bool is_under_way() const { return step_ != Step::kNone; }
  void work();  // Once a turn.

 private:
  enum class Step : std::uint8_t { kNone, kEndSegment, kFreeze, kCheckpoint, kCompact };

  EventLog& log_;
  const CheckpointTask& checkpoint_;
  CompactionTask& compaction_;
  const std::function<bool()> freeze_;
  Step step_ = Step::kNone;
};

}  // namespace gyre::storage

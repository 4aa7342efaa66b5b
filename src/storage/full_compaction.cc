#include "storage/full_compaction.h"

namespace gyre::storage {

void FullCompaction::work() {
  switch (step_) {
    case Step::kNone: return;
    case Step::kEndSegment:
      if (log_.end_segment()) step_ = Step::kFreeze;
      return;
    case Step::kFreeze:
      if (freeze_()) step_ = Step::kCheckpoint;
      return;
    case Step::kCheckpoint:
      if (checkpoint_.is_under_way()) return;
      compaction_.compact_all();
      step_ = Step::kCompact;
      return;
    case Step::kCompact:
      if (!compaction_.is_under_way()) step_ = Step::kNone;
      return;
  }
}

}  // namespace gyre::storage

// DeadShareSurvey: how much of each sealed segment compaction would give back.
//
// Counted from the directory's rows alone, in the worker's thread: a record reaches to the next
// one, so its bytes need no look at the log. An estimate, for retire records count with the event
// before them; the segment that was compacted is exact.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/storage/store.h"
#include "storage/segment_compactor.h"

namespace gyre::storage {

struct SegmentTally {
  std::uint32_t number = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t dead_bytes = 0;
  std::uint64_t events_alive = 0;

  [[nodiscard]] double dead_share() const {
    return file_bytes == 0 ? 0 : static_cast<double>(dead_bytes) / static_cast<double>(file_bytes);
  }
};

class DeadShareSurvey {
 public:
  // `sources` outlive the survey.
  explicit DeadShareSurvey(const CompactionSources& sources);

  // Looks at `rows` more. True when all have been looked at.
  bool step(Sequence rows);
  // One tally for each segment that may be compacted, by number.
  [[nodiscard]] const std::vector<SegmentTally>& tallies() const { return tallies_; }

 private:
  void count(const DirectoryRow& row, LogPosition next);
  [[nodiscard]] std::uint64_t bytes_in_compacted(const LogSegment& segment,
                                                 std::uint32_t as_written);

  const CompactionSources& sources_;
  std::vector<SegmentTally> tallies_;
  Sequence next_row_ = 0;
  DirectoryRow last_{};  // The row before; it is counted when its end is known.
  std::uint32_t table_of_ = 0;
  std::uint32_t at_ = 0;  // In the table of that segment.
};

// Those that are to be compacted, the one with the greatest dead share first.
[[nodiscard]] std::vector<SegmentTally> choose_for_compaction(
    const std::vector<SegmentTally>& tallies, const CompactionOptions& options);

}  // namespace gyre::storage

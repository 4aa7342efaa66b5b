// LogSalvage: the second walk of a repair. Writes the segments that have damage anew, with a gap
// for each loss.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gyre/base/random.h"
#include "storage/compacted_segment_writer.h"
#include "storage/log_walk.h"
#include "storage/loss_survey.h"

namespace gyre::storage {

class LogSalvage final : public LogVisitor {
 public:
  // `keep` sets the original of a segment aside, if there is one, before it is replaced.
  using Keep = std::function<absl::Status(std::uint32_t segment)>;
  LogSalvage(const LogSegment::Place& place, const LossSurvey& survey, Random& random, Keep keep,
             const std::function<absl::Status(std::uint64_t)>& advance)
      : place_(place),
        survey_(survey),
        random_(random),
        keep_(std::move(keep)),
        advance_(advance) {}

  [[nodiscard]] absl::Status begin(const SegmentHeader& header, std::uint64_t bytes) override;
  [[nodiscard]] absl::Status take(const LogRecord& record) override;
  void take(const DamagedStretch& damage) override;
  [[nodiscard]] absl::Status advance(std::uint64_t bytes) override { return advance_(bytes); }
  [[nodiscard]] absl::Status finish(const LogExtent& extent);

 private:
  [[nodiscard]] absl::Status open_writer(const SegmentHeader& header, std::uint64_t bytes);
  [[nodiscard]] absl::Status close_writer();
  [[nodiscard]] absl::Status fill_up_to(std::uint32_t number);
  [[nodiscard]] absl::Status write_whole_loss(const DamagedStretch& damage, const Loss& loss);
  [[nodiscard]] absl::Status begin_last_segment(std::uint32_t number);
  [[nodiscard]] const Loss& next_loss() { return survey_.losses()[next_loss_++]; }

  const LogSegment::Place& place_;
  const LossSurvey& survey_;
  Random& random_;
  const Keep keep_;
  const std::function<absl::Status(std::uint64_t)>& advance_;
  absl::Status status_;  // Of what a damage led to, which cannot say it itself.
  std::size_t next_loss_ = 0;
  std::unique_ptr<CompactedSegmentWriter> writer_;
  std::uint32_t writing_ = 0;       // Number of the writer's segment.
  std::uint32_t last_ = 0;          // Of the last segment that was read or written,
  bool is_last_rewritten_ = false;  // which is a compacted one now,
  std::uint64_t next_number_ = 0;   // and of the record behind it.
};

}  // namespace gyre::storage

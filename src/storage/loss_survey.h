// LossSurvey: the first walk of a repair. Finds what is lost, which events that were, and which
// segments have to be written anew.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gyre/storage/manifest.h"
#include "gyre/storage/shard_repair.h"
#include "storage/directory_file.h"
#include "storage/event_check.h"
#include "storage/log_walk.h"

namespace gyre::storage {

class LossSurvey final : public LogVisitor {
 public:
  // Manifest and directory are null where they cannot be believed.
  LossSurvey(std::string folder, const Manifest* manifest, const DirectoryFile* rows,
             const std::function<absl::Status(std::uint64_t)>& advance);

  [[nodiscard]] absl::Status take(const LogRecord& record) override;
  void take(const DamagedStretch& damage) override;
  [[nodiscard]] absl::Status advance(std::uint64_t bytes) override { return advance_(bytes); }
  void finish(const LogExtent& extent);

  // In the order of the log; a second walk meets them in the same.
  [[nodiscard]] const std::vector<Loss>& losses() const { return losses_; }
  // Whole records that are no good, by position.
  [[nodiscard]] bool is_bad(LogPosition position) const { return bad_.contains(position.value); }
  [[nodiscard]] bool is_affected(std::uint32_t segment) const {
    return affected_.contains(segment);
  }
  // The log ends before the checkpoint: the last loss is behind it, in the last segment.
  [[nodiscard]] bool has_lost_its_end() const { return has_lost_its_end_; }

 private:
  [[nodiscard]] std::string find_fault(const LogRecord& record);
  void settle(const LogRecord& record);
  void settle_as(std::uint64_t rows, bool is_known);
  void name_events(Loss& loss) const;

  const std::string folder_;
  const Manifest* const manifest_;
  const DirectoryFile* const rows_;
  const std::function<absl::Status(std::uint64_t)>& advance_;
  EventCheck event_check_{EventCheck::Depth::kId};
  std::vector<Loss> losses_;
  std::size_t settled_ = 0;  // Losses before this have their rows.
  absl::flat_hash_set<std::uint64_t> bad_;
  std::set<std::uint32_t> affected_;
  Sequence next_ = 0;
  bool has_lost_its_end_ = false;
};

}  // namespace gyre::storage

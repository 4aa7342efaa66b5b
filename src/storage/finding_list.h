// FindingList: what a check has found, the first few of each part in full and the rest as a number.
#pragma once

#include <array>
#include <string>
#include <utility>

#include "gyre/storage/shard_check.h"

namespace gyre::storage {

class FindingList {
 public:
  explicit FindingList(ShardCheck& check) : check_(check) {}

  void add(Finding finding) {
    ++check_.finding_count;
    (finding.part == Finding::Part::kLog ? check_.is_log_damaged : check_.is_index_damaged) = true;
    std::uint64_t& kept = kept_[static_cast<std::size_t>(finding.part)];
    if (kept == ShardCheckOptions::kFindingsKeptMax) return;
    ++kept;
    check_.findings.push_back(std::move(finding));
  }

 private:
  ShardCheck& check_;
  std::array<std::uint64_t, 4> kept_{};
};

}  // namespace gyre::storage

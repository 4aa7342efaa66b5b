// LogDamageReports: tells the operator what is wrong with the log's files, without flooding him.
#pragma once

#include <cstdint>
#include <string>

#include "absl/container/flat_hash_set.h"
#include "gyre/storage/event_log.h"

namespace gyre::storage {

class LogDamageReports {
 public:
  // `directory`: the log's.
  explicit LogDamageReports(std::string directory) : directory_(std::move(directory)) {}

  void report_damage(LogPosition position);
  void report_unreadable(LogPosition position, int error);
  [[nodiscard]] const LogDamage& damage() const { return damage_; }

 private:
  // A disk that has lost this many records needs no further lines.
  static constexpr std::size_t kReportedMax = 1000;

  const std::string directory_;
  absl::flat_hash_set<std::uint64_t> damaged_;     // Positions.
  absl::flat_hash_set<std::uint32_t> unreadable_;  // Segments.
  LogDamage damage_;
};

}  // namespace gyre::storage

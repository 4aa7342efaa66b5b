// LogCheck: the part of check_shard() that walks the log and holds the directory against it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gyre/storage/manifest.h"
#include "gyre/storage/term.h"
#include "storage/directory_file.h"
#include "storage/event_check.h"
#include "storage/event_postings.h"
#include "storage/finding_list.h"
#include "storage/log_walk.h"
#include "storage/posting_tally.h"
#include "storage/record.h"

namespace gyre::storage {

class LogCheck final : public LogVisitor {
 public:
  struct Sources {
    std::string folder;
    const TermHasher& hasher;
    const Manifest* manifest;   // Null: nothing is derived yet.
    const DirectoryFile* rows;  // Null if it cannot be read.
  };
  // `postings` hears of every posting that the runs should have.
  LogCheck(const Sources& sources, EventCheck::Depth depth, PostingTally& postings,
           FindingList& findings, ShardCheck& check,
           const std::function<absl::Status(std::uint64_t)>& advance);

  [[nodiscard]] absl::Status take(const LogRecord& record) override;
  void take(const DamagedStretch& damage) override;
  [[nodiscard]] absl::Status advance(std::uint64_t bytes) override;
  // After the walk: what only the end of the log can tell.
  [[nodiscard]] absl::Status finish(const LogExtent& extent);

  // Every record was there, so the number of each event is known.
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  // `postings` has heard of all of them, each by the flags of its row.
  [[nodiscard]] bool are_postings_known() const { return is_complete_ && are_rows_sound_; }
  // Events of rows that died behind the checkpoint and are dead in the file already: at the
  // checkpoint they had all their postings. Ascending; mostly none.
  [[nodiscard]] const std::vector<Sequence>& early_deaths() const { return early_deaths_; }
  // Addresses of which the log has a version behind the checkpoint.
  [[nodiscard]] const absl::flat_hash_set<Term>& late_addresses() const { return late_addresses_; }
  // Some row of an event or an address mark may_be_superseded_early().
  [[nodiscard]] bool has_later_supersedings() const { return has_later_supersedings_; }
  // True if the row's file says that a newer version came, and only a record behind the one that
  // made it dead can be that version: perhaps one behind the checkpoint.
  [[nodiscard]] bool may_be_superseded_early(Sequence sequence, std::uint16_t flags) const;

 private:
  void take_event(const LogRecord& record);
  void take_retired(const LogRecord& record, const std::vector<Sequence>& retired,
                    DeathCause cause);
  void pass_checkpoint(std::uint64_t number);
  void find_sequence_again(const LogRecord& record);
  void note_late_address(RecordType type, nostr::PackedEventView event);
  void take_gap(const LogRecord& record);
  void check_row_of_gap(LogPosition position);
  void take_mark(const LogRecord& record);
  enum class RowOf : std::uint8_t { kEvent, kNoEvent };
  void append_row(RowOf of);
  // The row of the next sequence, compared with `expected`; nothing if there is none to be read.
  [[nodiscard]] std::optional<DirectoryRow> compare_row(const DirectoryRow& expected);
  // Tells `postings` what an event or request stands under.
  void count_postings(RecordType type, nostr::PackedEventView event, const DirectoryRow& row);
  void compare_death(Sequence sequence, const DirectoryRow& row);
  [[nodiscard]] absl::Status compare_deaths();
  void report(Finding::Part part, std::string path, std::optional<std::uint64_t> offset,
              std::optional<Sequence> sequence, std::string what);
  void report_record(const LogRecord& record, std::optional<Sequence> sequence, std::string what);
  void report_row(Sequence sequence, std::string what);

  const Sources sources_;
  EventCheck event_check_;
  PostingTally& postings_;
  FindingList& findings_;
  ShardCheck& check_;
  const std::function<absl::Status(std::uint64_t)>& advance_;

  Sequence next_ = 0;
  std::vector<bool> is_event_;  // And no foreign request, address mark or part of a gap.
  std::vector<bool> is_dead_;
  std::vector<bool> is_superseded_;
  std::vector<bool> was_dead_;  // At the checkpoint.
  std::vector<Sequence> early_deaths_;
  absl::flat_hash_set<Term> late_addresses_;
  bool has_later_supersedings_ = false;
  std::uint64_t alive_ = 0;
  bool is_complete_ = true;
  bool are_rows_sound_ = true;
  bool is_sequence_known_ = true;
  bool has_passed_checkpoint_ = false;
  std::vector<EventPosting> scratch_;
};

}  // namespace gyre::storage

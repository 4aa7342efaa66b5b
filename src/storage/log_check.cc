#include "storage/log_check.h"

#include <algorithm>
#include <utility>

#include "storage/author_rules.h"
#include "storage/concat.h"
#include "storage/log_segment.h"
#include "storage/record_rows.h"

namespace gyre::storage {
namespace {

using nostr::PackedEventView;

DirectoryRow row_of(RecordType type, PackedEventView event, LogPosition position,
                    const TermHasher& hasher) {
  const Bytes32 id = event.id();
  DirectoryRow row{};
  row.position = position;
  row.created_at = event.created_at();
  row.id_prefix = prefix64(id.bytes.data());
  row.kind = event.kind();
  if (type == RecordType::kForeignRequest) {
    row.position.value |= kNoEventBit;
    row.flags = kRowDead;
    return row;
  }
  row.author_hash = static_cast<std::uint32_t>(hasher.author(event.pubkey()));
  if (event.expiration()) row.flags = kRowExpires;
  return row;
}

// The first thing that differs; dead or alive is another question. Compaction makes gaps, marks and
// foreign requests of dead events and leaves their rows as they are, so a row of no event may still
// be the one of the event that it was: its author and expiration are then not known here.
std::string_view difference(const DirectoryRow& expected, const DirectoryRow& row) {
  const bool is_of_event = is_row_of_event(expected);
  if ((expected.position.value | kNoEventBit) != (row.position.value | kNoEventBit) ||
      (is_of_event && !is_row_of_event(row))) {
    return "another position in the log";
  }
  if (expected.created_at != row.created_at) return "another created_at";
  if (expected.id_prefix != row.id_prefix) return "another id";
  if (!is_of_event) return {};
  if (expected.author_hash != row.author_hash) return "another author";
  if (expected.kind != row.kind) return "another kind";
  if (((expected.flags ^ row.flags) & kRowExpires) != 0) return "another expiration flag";
  return {};
}

}  // namespace

LogCheck::LogCheck(const Sources& sources, EventCheck::Depth depth, PostingTally& postings,
                   FindingList& findings, ShardCheck& check,
                   const std::function<absl::Status(std::uint64_t)>& advance)
    : sources_(sources),
      event_check_(depth),
      postings_(postings),
      findings_(findings),
      check_(check),
      advance_(advance) {}

absl::Status LogCheck::take(const LogRecord& record) {
  ++check_.records;
  const Manifest* const manifest = sources_.manifest;
  if (manifest != nullptr && !has_passed_checkpoint_ && record.position >= manifest->log_position) {
    pass_checkpoint(record.number);
  }
  switch (record.type) {
    case RecordType::kEvent:
    case RecordType::kForeignRequest: take_event(record); return absl::OkStatus();
    case RecordType::kGap: take_gap(record); return absl::OkStatus();
    case RecordType::kAddressMark: take_mark(record); return absl::OkStatus();
    case RecordType::kRetire:
      if (const auto decoded = decode_retire_record(record.payload)) {
        const bool is_superseded = decoded->reason == RetireReason::kSuperseded;
        take_retired(record, decoded->retired,
                     is_superseded ? DeathCause::kSuperseded : DeathCause::kOther);
      } else {
        report_record(record, std::nullopt, "a list of dead events that is malformed");
      }
      return absl::OkStatus();
  }
  report_record(record, std::nullopt,
                concat("a record of the unknown type ", static_cast<int>(record.type)));
  return absl::OkStatus();
}

void LogCheck::take_event(const LogRecord& record) {
  if (!is_sequence_known_) find_sequence_again(record);
  const auto decoded = decode_event_record(record.payload);
  if (!decoded) {
    report_record(record, next_, "a record that holds no event");
    is_complete_ = false;
  } else {
    take_retired(record, decoded->retired, death_cause_of(decoded->event));
    std::string fault = event_check_.find_fault(decoded->event);
    if (!fault.empty()) {
      report_record(record, next_,
                    concat("event ", decoded->event.id_hex(), ": ", std::move(fault)));
    }
    note_late_address(record.type, decoded->event);
    if (is_sequence_known_) {
      const auto row =
          compare_row(row_of(record.type, decoded->event, record.position, sources_.hasher));
      if (row) count_postings(record.type, decoded->event, *row);
    }
  }
  const bool is_foreign = record.type == RecordType::kForeignRequest;
  append_row(is_foreign ? RowOf::kNoEvent : RowOf::kEvent);
  ++check_.events;
}

void LogCheck::note_late_address(RecordType type, PackedEventView event) {
  if (!has_passed_checkpoint_ || type != RecordType::kEvent) return;
  if (const auto address = address_of(event, event.pubkey())) {
    late_addresses_.insert(sources_.hasher.address(address->kind, address->pubkey, address->d));
  }
}

bool LogCheck::may_be_superseded_early(Sequence sequence, std::uint16_t flags) const {
  if ((flags & kRowSuperseded) == 0 || sequence >= was_dead_.size()) return false;
  return was_dead_[sequence] && !is_superseded_[sequence];
}

void LogCheck::take_gap(const LogRecord& record) {
  // The scanner has seen to it that the payload is whole.
  const LogGap gap = decode_gap(record.payload.data());
  if (gap.rows > kSequenceMax - next_) {
    return report_record(record, std::nullopt, "a gap of more rows than there can be");
  }
  for (std::uint32_t i = 0; i < gap.rows; ++i) {
    check_row_of_gap(record.position);
    append_row(RowOf::kNoEvent);
  }
}

// It may still say what event it was; only that it is whole, and of this segment, can be known.
void LogCheck::check_row_of_gap(LogPosition position) {
  const DirectoryFile* const rows = sources_.rows;
  if (!is_sequence_known_ || rows == nullptr || next_ >= rows->rows()) return;
  DirectoryRow row;
  if (!rows->read(next_, row)) {
    are_rows_sound_ = false;
    report_row(next_, "it fails its check");
  } else if (row.position.segment() != position.segment()) {
    report_row(next_, "it has another position in the log than the log");
  }
}

void LogCheck::take_mark(const LogRecord& record) {
  const auto mark = decode_address_mark(record.payload);
  if (!mark) {
    report_record(record, next_, "an address mark that is malformed");
    is_complete_ = false;
  } else {
    take_retired(record, mark->retired, DeathCause::kSuperseded);
    DirectoryRow expected = row_of_no_event(record.position);
    expected.created_at = mark->created_at;
    expected.id_prefix = mark->id_prefix;
    const auto row = is_sequence_known_ ? compare_row(expected) : std::nullopt;
    if (row && (row->flags & kRowSuperseded) == 0) {
      postings_.add({mark->address, mark->created_at, next_});
    } else if (row) {
      has_later_supersedings_ = true;
    }
  }
  append_row(RowOf::kNoEvent);
}

void LogCheck::append_row(RowOf of) {
  const bool is_event = of == RowOf::kEvent;
  is_event_.push_back(is_event);
  is_dead_.push_back(!is_event);
  is_superseded_.push_back(false);
  if (is_event) ++alive_;
  ++next_;
}

void LogCheck::take_retired(const LogRecord& record, const std::vector<Sequence>& retired,
                            DeathCause cause) {
  if (!is_sequence_known_) return;
  for (const Sequence sequence : retired) {
    if (sequence >= next_) {
      report_record(record, std::nullopt,
                    concat("it makes event ", sequence, " dead, which does not exist"));
    } else if (!is_event_[sequence]) {
      continue;  // Its record is gone, so it never became an event.
    } else if (is_dead_[sequence]) {
      // A record that was lost may have held what brings the numbers together.
      if (!is_complete_) continue;
      report_record(record, std::nullopt,
                    concat("it makes event ", sequence, " dead, which was dead before"));
    } else {
      is_dead_[sequence] = true;
      is_superseded_[sequence] = cause == DeathCause::kSuperseded;
      --alive_;
    }
  }
}

void LogCheck::pass_checkpoint(std::uint64_t number) {
  has_passed_checkpoint_ = true;
  was_dead_ = is_dead_;
  if (!is_complete_) return;
  const Manifest& manifest = *sources_.manifest;
  const auto compare = [this](std::string_view what, std::uint64_t found, std::uint64_t expected) {
    if (found == expected) return;
    report(Finding::Part::kManifest, concat(sources_.folder, "/manifest"), std::nullopt,
           std::nullopt, concat("it says ", found, " ", what, ", and the log ", expected));
  };
  compare("records", manifest.log_record_number, number);
  compare("directory rows", manifest.directory_rows, next_);
  compare("events alive", manifest.events_alive, alive_);
}

void LogCheck::take(const DamagedStretch& damage) {
  std::string what = damage.what;
  if (damage.records != 0) what = concat(what, "; ", damage.records, " records are lost");
  if (damage.bytes != 0) what = concat(what, " (", damage.bytes, " bytes)");
  report(Finding::Part::kLog, damage.path, damage.offset, std::nullopt, std::move(what));
  if (damage.records == 0) return;
  is_complete_ = false;
  is_sequence_known_ = false;
}

// How many of the lost records were events is known to the directory alone.
void LogCheck::find_sequence_again(const LogRecord& record) {
  if (sources_.rows == nullptr) return;
  const Sequence found = sources_.rows->find(record.position);
  DirectoryRow row;
  if (found < next_ || found >= sources_.rows->rows()) return;
  if (!sources_.rows->read(found, row) || row.position != record.position) return;
  next_ = found;
  // The rows in between are those of what is lost.
  is_event_.resize(next_);
  is_dead_.resize(next_, true);
  is_superseded_.resize(next_);
  is_sequence_known_ = true;
}

std::optional<DirectoryRow> LogCheck::compare_row(const DirectoryRow& expected) {
  const DirectoryFile* const rows = sources_.rows;
  if (rows == nullptr || next_ >= rows->rows()) return std::nullopt;
  DirectoryRow row;
  if (!rows->read(next_, row)) {
    are_rows_sound_ = false;
    report_row(next_, "it fails its check");
    return std::nullopt;
  }
  const std::string_view what = difference(expected, row);
  if (!what.empty()) report_row(next_, concat("it has ", what, " than the log"));
  return row;
}

// The flags of the row decide about the postings, for what the log says of a death comes later.
// That both agree is seen at the end.
void LogCheck::count_postings(RecordType type, PackedEventView event, const DirectoryRow& row) {
  scratch_.clear();
  if (type == RecordType::kEvent) {
    append_event_postings(sources_.hasher, event, row.flags, scratch_);
  } else {
    append_request_postings(sources_.hasher, event, scratch_);
  }
  for (const EventPosting& posting : scratch_) {
    postings_.add({posting.term, posting.time, next_});
  }
}

absl::Status LogCheck::advance(std::uint64_t bytes) { return advance_(bytes); }

absl::Status LogCheck::finish(const LogExtent& extent) {
  const Manifest* const manifest = sources_.manifest;
  check_.torn_bytes = extent.torn_bytes;
  check_.events_alive = alive_;
  check_.bytes += extent.bytes;
  if (manifest == nullptr) return absl::OkStatus();
  if (!has_passed_checkpoint_ && extent.end >= manifest->log_position) {
    pass_checkpoint(extent.next_number);
  }
  if (!has_passed_checkpoint_) {
    const std::string segment = segment_name(extent.end.segment());
    report(Finding::Part::kLog, concat(sources_.folder, "/", segment), extent.end.offset(),
           std::nullopt,
           concat("the log ends here with record ", extent.next_number, "; it had ",
                  manifest->log_record_number, " when the manifest was written"));
    is_complete_ = false;
  }
  return is_complete_ ? compare_deaths() : absl::OkStatus();
}

absl::Status LogCheck::compare_deaths() {
  if (sources_.rows == nullptr) return absl::OkStatus();
  const Sequence rows = std::min(sources_.rows->rows(), static_cast<Sequence>(was_dead_.size()));
  for (Sequence sequence = 0; sequence < rows; ++sequence) {
    DirectoryRow row;
    if (sources_.rows->read(sequence, row)) compare_death(sequence, row);
  }
  const std::uint64_t bytes = std::uint64_t{rows} * sizeof(DirectoryRow);
  check_.bytes += bytes;
  return advance_(bytes);
}

// A death reaches the file when it is durable in the log, the manifest later: a crash in between
// leaves rows that are dead by records behind the manifest's position.
void LogCheck::compare_death(Sequence sequence, const DirectoryRow& row) {
  const bool is_dead = (row.flags & kRowDead) != 0;
  const bool is_superseded = (row.flags & kRowSuperseded) != 0;
  std::string_view what;
  if (is_dead && !is_dead_[sequence]) {
    what = "it is dead, and nothing in the log makes it so";
  } else if (!is_dead && was_dead_[sequence]) {
    what = "it is alive, and the log makes it dead";
  } else if (is_dead && is_superseded_[sequence] && !is_superseded) {
    what = "a newer version made it dead, and it does not say so";
  } else if (is_superseded && !is_dead) {
    what = "it is alive and says that a newer version made it dead";
  } else if (is_dead && is_event_[sequence] && !was_dead_[sequence]) {
    early_deaths_.push_back(sequence);
  }
  if (is_event_[sequence] && may_be_superseded_early(sequence, row.flags)) {
    has_later_supersedings_ = true;
  }
  if (what.empty()) return;
  are_rows_sound_ = false;
  report_row(sequence, std::string(what));
}

void LogCheck::report(Finding::Part part, std::string path, std::optional<std::uint64_t> offset,
                      std::optional<Sequence> sequence, std::string what) {
  findings_.add({part, std::move(path), offset, sequence, std::move(what)});
}

void LogCheck::report_record(const LogRecord& record, std::optional<Sequence> sequence,
                             std::string what) {
  if (!is_sequence_known_) sequence = std::nullopt;
  report(Finding::Part::kLog, concat(sources_.folder, "/", segment_name(record.position.segment())),
         record.position.offset(), sequence, std::move(what));
}

void LogCheck::report_row(Sequence sequence, std::string what) {
  report(Finding::Part::kDirectory, concat(sources_.folder, "/directory"),
         DirectoryFile::offset_of(sequence), sequence, std::move(what));
}

}  // namespace gyre::storage

#include "storage/loss_survey.h"

#include <algorithm>
#include <utility>

#include "storage/concat.h"
#include "storage/log_segment.h"
#include "storage/record_walk.h"

namespace gyre::storage {

LossSurvey::LossSurvey(std::string folder, const Manifest* manifest, const DirectoryFile* rows,
                       const std::function<absl::Status(std::uint64_t)>& advance)
    : folder_(std::move(folder)), manifest_(manifest), rows_(rows), advance_(advance) {}

absl::Status LossSurvey::take(const LogRecord& record) {
  if (settled_ < losses_.size()) settle(record);
  std::string fault = find_fault(record);
  if (fault.empty()) {
    next_ += rows_of(record);
    return absl::OkStatus();
  }
  Loss loss;
  loss.path = concat(folder_, "/", segment_name(record.position.segment()));
  loss.offset = record.position.offset();
  loss.bytes = record_bytes(record.payload.size());
  loss.what = std::move(fault);
  loss.first_number = record.number;
  loss.records = 1;
  loss.first_sequence = next_;
  // An unknown type has no row, as far as this gyre knows.
  const bool has_row = record.type == RecordType::kEvent ||
                       record.type == RecordType::kForeignRequest ||
                       record.type == RecordType::kAddressMark;
  loss.rows = has_row ? 1 : 0;
  name_events(loss);
  next_ += loss.rows;
  losses_.push_back(std::move(loss));
  settled_ = losses_.size();
  bad_.insert(record.position.value);
  affected_.insert(record.position.segment());
  return absl::OkStatus();
}

std::string LossSurvey::find_fault(const LogRecord& record) {
  const std::vector<Sequence>* retired = nullptr;
  std::optional<EventRecord> event;
  std::optional<RetireRecord> retire;
  std::optional<AddressMarkRecord> mark;
  switch (record.type) {
    case RecordType::kEvent:
    case RecordType::kForeignRequest:
      event = decode_event_record(record.payload);
      if (!event) return "the record holds no event";
      if (std::string fault = event_check_.find_fault(event->event); !fault.empty()) return fault;
      retired = &event->retired;
      break;
    case RecordType::kRetire:
      retire = decode_retire_record(record.payload);
      if (!retire) return "the list of dead events is malformed";
      retired = &retire->retired;
      break;
    case RecordType::kAddressMark:
      mark = decode_address_mark(record.payload);
      if (!mark) return "the address mark is malformed";
      retired = &mark->retired;
      break;
    case RecordType::kGap:
      if (decode_gap(record.payload.data()).rows <= kSequenceMax - next_) return {};
      return "the gap has more rows than there can be";
  }
  if (retired == nullptr) return "the record has an unknown type";
  const bool names_future =
      std::ranges::any_of(*retired, [this](Sequence sequence) { return sequence >= next_; });
  return names_future ? "the record makes events dead that do not exist" : "";
}

void LossSurvey::take(const DamagedStretch& damage) {
  Loss loss;
  loss.path = damage.path;
  loss.offset = damage.offset;
  loss.bytes = damage.bytes;
  loss.what = damage.what;
  loss.first_number = damage.first_number;
  loss.records = damage.records;
  losses_.push_back(std::move(loss));
  affected_.insert(damage.segment);
}

// How many events are lost shows in the first row of a record that is not.
void LossSurvey::settle(const LogRecord& record) {
  std::uint64_t records = 0;
  for (std::size_t i = settled_; i < losses_.size(); ++i) records += losses_[i].records;
  if (records == 0) return settle_as(0, true);
  if (rows_ == nullptr || (manifest_ != nullptr && record.position >= manifest_->log_position)) {
    return settle_as(records, false);
  }
  if (rows_of(record) == 0) return;  // The next one may tell.
  const Sequence found = rows_->find(record.position);
  DirectoryRow row;
  const bool is_there = found < rows_->rows() && rows_->read(found, row) &&
                        (row.position.value | kNoEventBit) == (record.position.value | kNoEventBit);
  if (!is_there || found < next_ || found - next_ > records) return settle_as(records, false);
  settle_as(found - next_, true);
}

// Shares out rows among the losses that wait for it.
void LossSurvey::settle_as(std::uint64_t rows, bool is_known) {
  for (; settled_ < losses_.size(); ++settled_) {
    Loss& loss = losses_[settled_];
    loss.first_sequence = next_;
    loss.rows = static_cast<std::uint32_t>(std::min(loss.records, rows));
    loss.are_rows_assumed = !is_known;
    rows -= loss.rows;
    next_ += loss.rows;
    name_events(loss);
  }
}

void LossSurvey::name_events(Loss& loss) const {
  if (rows_ == nullptr) return;
  for (std::uint32_t i = 0; i < loss.rows && loss.events.size() < Loss::kEventsMax; ++i) {
    const Sequence sequence = loss.first_sequence + i;
    DirectoryRow row;
    if (sequence >= rows_->rows() || !rows_->read(sequence, row) || !is_row_of_event(row)) {
      continue;
    }
    loss.events.push_back(
        {sequence, row.id_prefix, row.created_at, row.kind, (row.flags & kRowDead) == 0});
  }
}

void LossSurvey::finish(const LogExtent& extent) {
  std::uint64_t rows = 0;
  bool is_known = false;
  if (manifest_ != nullptr && manifest_->log_record_number > extent.next_number) {
    // What was checkpointed had been durable: it is lost, though nothing behind it tells.
    Loss loss;
    loss.path = concat(folder_, "/", segment_name(extent.end.segment()));
    loss.offset = extent.end.offset();
    loss.what = "the log has lost its end";
    loss.first_number = extent.next_number;
    loss.records = manifest_->log_record_number - extent.next_number;
    losses_.push_back(std::move(loss));
    has_lost_its_end_ = true;
    affected_.insert(extent.end.segment());
  }
  std::uint64_t records = 0;
  for (std::size_t i = settled_; i < losses_.size(); ++i) records += losses_[i].records;
  if (has_lost_its_end_ && manifest_->directory_rows >= next_ &&
      manifest_->directory_rows - next_ <= records) {
    rows = manifest_->directory_rows - next_;
    is_known = true;
  } else {
    rows = records;
  }
  settle_as(rows, is_known || records == 0);
}

}  // namespace gyre::storage

#include "storage/segment_compactor.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/nostr/kind.h"
#include "storage/author_rules.h"
#include "storage/concat.h"
#include "storage/record.h"

namespace gyre::storage {
namespace {

bool is_request(std::uint16_t kind) {
  return kind == nostr::kKindDeletion || kind == nostr::kKindVanish;
}

bool has_address(std::uint16_t kind) {
  const nostr::KindClass kind_class = nostr::kind_class(kind);
  return kind_class == nostr::KindClass::kReplaceable ||
         kind_class == nostr::KindClass::kAddressable;
}

RetireReason reason_of_list(std::uint16_t kind) {
  if (kind == nostr::kKindVanish) return RetireReason::kVanished;
  return has_address(kind) ? RetireReason::kSuperseded : RetireReason::kDeleted;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SegmentCompactor>> SegmentCompactor::create(
    const CompactionSources& sources, std::uint32_t number, std::uint64_t id,
    std::uint64_t bytes_expected) {
  GYRE_ASSERT_CMP(number, >=, kFirstSegment);
  GYRE_ASSERT_CMP(number, <, sources.end());
  auto writer =
      CompactedSegmentWriter::create(sources.place, sources.segment(number), id, bytes_expected);
  if (!writer.ok()) return writer.status();
  return std::unique_ptr<SegmentCompactor>(
      new SegmentCompactor(sources, number, *std::move(writer)));
}

SegmentCompactor::SegmentCompactor(const CompactionSources& sources, std::uint32_t number,
                                   std::unique_ptr<CompactedSegmentWriter> writer)
    : sources_(sources),
      original_(sources.segment(number)),
      end_number_(sources.segment(number + 1).header().first_record),
      writer_(std::move(writer)),
      scanner_(original_.file_span(), original_.header(), kSegmentHeaderBytes,
               original_.header().first_record),
      next_row_(first_row_of(number)) {}

SegmentCompactor::~SegmentCompactor() = default;

// By a large read: a mapping faults page by page, and a fault that the disk refuses is the end of
// the process.
bool SegmentCompactor::bring_in(std::uint64_t bytes) const {
  const std::uint64_t begin = scanner_.offset();
  // The last record of a step may reach beyond it.
  const std::uint64_t count =
      std::min(bytes + record_bytes(kPayloadBytesMax), original_.file_bytes() - begin);
  original_.file().read_ahead(begin, count);
  return original_.file().populate(begin, count);
}

absl::Status SegmentCompactor::step(std::uint64_t bytes) {
  const std::uint64_t end = scanner_.offset() + bytes;
  if (original_.is_mapped() && !bring_in(bytes)) return disagreement("the disk does not give it");
  LogRecord record;
  while (scanner_.offset() < end) {
    const LogScanner::Step step = scanner_.next(record);
    if (step == LogScanner::Step::kDamaged) {
      return disagreement(concat("offset ", scanner_.offset(), " has no valid record"));
    }
    if (step == LogScanner::Step::kEnd) return finish();
    if (absl::Status status = take(record); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status SegmentCompactor::finish() {
  if (scanner_.number() != end_number_) {
    return disagreement(concat("record ", scanner_.number(), " is missing"));
  }
  auto compacted = writer_->finish(end_number_);
  if (!compacted.ok()) return compacted.status();
  compacted_ = *std::move(compacted);
  return absl::OkStatus();
}

absl::Status SegmentCompactor::take(const LogRecord& record) {
  switch (record.type) {
    case RecordType::kEvent: return take_event(record);
    case RecordType::kRetire: return take_retire(record);
    case RecordType::kForeignRequest: ++next_row_; return keep(record);
    case RecordType::kAddressMark: return take_mark(record);
    case RecordType::kGap: {
      const LogGap gap = decode_gap(record.payload.data());
      next_row_ += gap.rows;
      writer_->leave_out(record.position.offset(), gap);
      return absl::OkStatus();
    }
  }
  return disagreement(concat("record ", record.number, " has an unknown type"));
}

absl::Status SegmentCompactor::keep(const LogRecord& record) {
  return writer_->add(record.type, record.position.offset(), record.payload);
}

absl::Status SegmentCompactor::take_event(const LogRecord& record) {
  const auto row = row_of(next_row_);
  if (!row.ok()) return row.status();
  if (row->position != record.position) {
    return disagreement(concat("the directory has no row for record ", record.number));
  }
  ++next_row_;
  return (row->flags & kRowDead) == 0 ? keep(record) : take_dead_event(record, *row);
}

absl::Status SegmentCompactor::take_dead_event(const LogRecord& record, const DirectoryRow& row) {
  auto decoded = decode_event_record(record.payload);
  if (!decoded) return disagreement(concat("record ", record.number, " holds no event"));
  const std::uint16_t kind = decoded->event.kind();
  if (is_request(kind)) {
    return writer_->add(RecordType::kForeignRequest, record.position.offset(), record.payload);
  }
  if (absl::Status status = keep_present(decoded->retired); !status.ok()) return status;
  const Bytes32 pubkey = decoded->event.pubkey();
  const auto address = address_of(decoded->event, pubkey);
  if (!address || (row.flags & kRowSuperseded) != 0) {
    return leave_out_row(record, reason_of_list(kind), std::move(decoded->retired));
  }
  AddressMarkRecord mark;
  mark.retired = std::move(decoded->retired);
  mark.address = sources_.hasher->address(address->kind, address->pubkey, address->d);
  mark.created_at = row.created_at;
  mark.id_prefix = row.id_prefix;
  mark.pubkey = pubkey;
  return writer_->add(RecordType::kAddressMark, record.position.offset(),
                      encode_address_mark(mark));
}

absl::Status SegmentCompactor::take_mark(const LogRecord& record) {
  const auto row = row_of(next_row_);
  if (!row.ok()) return row.status();
  ++next_row_;
  auto mark = decode_address_mark(record.payload);
  if (!mark) return disagreement(concat("record ", record.number, " is malformed"));
  if (absl::Status status = keep_present(mark->retired); !status.ok()) return status;
  if ((row->flags & kRowSuperseded) != 0) {
    return leave_out_row(record, RetireReason::kSuperseded, std::move(mark->retired));
  }
  return writer_->add(record.type, record.position.offset(), encode_address_mark(*mark));
}

absl::Status SegmentCompactor::take_retire(const LogRecord& record) {
  auto retire = decode_retire_record(record.payload);
  if (!retire) return disagreement(concat("record ", record.number, " is malformed"));
  if (absl::Status status = keep_present(retire->retired); !status.ok()) return status;
  if (!retire->retired.empty()) {
    return writer_->add(record.type, record.position.offset(), encode_retire_record(*retire));
  }
  writer_->leave_out(record.position.offset(), {.records = 1, .rows = 0});
  return absl::OkStatus();
}

// Leaves out a record that has a row, but not what it makes dead: that becomes a record of its own,
// which counts for the one left out.
absl::Status SegmentCompactor::leave_out_row(const LogRecord& record, RetireReason reason,
                                             std::vector<Sequence> retired) {
  LogGap gap{.records = 1, .rows = 1};
  if (!retired.empty()) {
    const RetireRecord retire{reason, std::move(retired)};
    absl::Status status =
        writer_->add(RecordType::kRetire, record.position.offset(), encode_retire_record(retire));
    if (!status.ok()) return status;
    gap.records = 0;
  }
  writer_->leave_out(record.position.offset(), gap);
  return absl::OkStatus();
}

absl::StatusOr<DirectoryRow> SegmentCompactor::row_of(Sequence sequence) const {
  if (sequence >= sources_.rows) {
    return disagreement(concat("the directory ends before row ", sequence));
  }
  return sources_.directory->checkpointed_row(sequence);
}

absl::Status SegmentCompactor::keep_present(std::vector<Sequence>& sequences) const {
  std::size_t kept = 0;
  for (const Sequence sequence : sequences) {
    const auto present = is_present(sequence);
    if (!present.ok()) return present.status();
    if (*present) sequences[kept++] = sequence;
  }
  sequences.resize(kept);
  return absl::OkStatus();
}

absl::StatusOr<bool> SegmentCompactor::is_present(Sequence sequence) const {
  const auto row = row_of(sequence);
  if (!row.ok()) return row.status();
  if ((row->flags & kRowDead) == 0) {
    return disagreement(concat("event ", sequence,
                               " is made dead here, but the directory has it "
                               "alive"));
  }
  if (!is_row_of_event(*row)) return false;
  const std::uint32_t number = row->position.segment();
  const std::uint32_t own_number = original_.header().number;
  if (number < kFirstSegment || number > own_number) {
    return disagreement(concat("event ", sequence, " is younger than what makes it dead"));
  }
  if (number == own_number) return false;  // Its record goes with this compaction.
  const OffsetTable* const table = sources_.segment(number).offset_table();
  return table == nullptr || table->find(row->position.offset()).has_value();
}

// Rows are in the order of their records.
Sequence SegmentCompactor::first_row_of(std::uint32_t number) const {
  Sequence low = 0;
  Sequence high = sources_.rows;
  while (low < high) {
    const Sequence middle = low + (high - low) / 2;
    if (sources_.directory->checkpointed_row(middle).position.segment() < number) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

absl::Status SegmentCompactor::disagreement(std::string_view what) const {
  return absl::DataLossError(concat(sources_.place.directory, "/",
                                    segment_name(original_.header().number), ": ", what,
                                    "; it is not compacted"));
}

}  // namespace gyre::storage

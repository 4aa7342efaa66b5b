#include "storage/log_salvage.h"

#include <algorithm>

#include "gyre/base/ids.h"

namespace gyre::storage {
namespace {

LogGap gap_of(const Loss& loss) { return {static_cast<std::uint32_t>(loss.records), loss.rows}; }

// Behind every offset that a gap at the end of `bytes` may have.
std::uint32_t end_as_written(std::uint64_t bytes) {
  const std::uint64_t aligned = (bytes + kRecordAlignment - 1) & ~std::uint64_t{7};
  return static_cast<std::uint32_t>(std::max<std::uint64_t>(kSegmentHeaderBytes, aligned) +
                                    kRecordAlignment);
}

}  // namespace

absl::Status LogSalvage::begin(const SegmentHeader& header, std::uint64_t bytes) {
  if (!status_.ok()) return status_;
  if (absl::Status status = close_writer(); !status.ok()) return status;
  if (absl::Status status = fill_up_to(header.number); !status.ok()) return status;
  last_ = header.number;
  is_last_rewritten_ = false;
  next_number_ = header.first_record;
  if (!survey_.is_affected(header.number)) return absl::OkStatus();
  SegmentHeader written = header;
  if (!header.is_compacted()) written.end_as_written = end_as_written(bytes);
  return open_writer(written, bytes);
}

absl::Status LogSalvage::take(const LogRecord& record) {
  if (!status_.ok()) return status_;
  const bool is_gap = record.type == RecordType::kGap;
  next_number_ = record.number + (is_gap ? decode_gap(record.payload.data()).records : 1);
  if (survey_.is_bad(record.position)) {
    writer_->leave_out(record.position.offset(), gap_of(next_loss()));
    return absl::OkStatus();
  }
  if (writer_ == nullptr) return absl::OkStatus();
  if (!is_gap) return writer_->add(record.type, record.position.offset(), record.payload);
  writer_->leave_out(record.position.offset(), decode_gap(record.payload.data()));
  return absl::OkStatus();
}

void LogSalvage::take(const DamagedStretch& damage) {
  const Loss& loss = next_loss();
  if (!status_.ok()) return;
  if (damage.is_whole_segment) {
    status_ = write_whole_loss(damage, loss);
  } else if (writer_ != nullptr && writing_ == damage.segment && loss.records > 0) {
    // Damage of headers and tables comes before the segment's records and takes none of them.
    writer_->leave_out(damage.as_written, gap_of(loss));
  }
}

absl::Status LogSalvage::write_whole_loss(const DamagedStretch& damage, const Loss& loss) {
  if (absl::Status status = close_writer(); !status.ok()) return status;
  if (absl::Status status = fill_up_to(damage.segment); !status.ok()) return status;
  SegmentHeader header{damage.segment, 0, damage.first_number};
  header.end_as_written = end_as_written(damage.bytes);
  last_ = damage.segment;
  if (absl::Status status = open_writer(header, 0); !status.ok()) return status;
  if (loss.records > 0) writer_->leave_out(kSegmentHeaderBytes, gap_of(loss));
  return close_writer();
}

// Of several segments that are missing in a row the first one has the gap, the others have nothing.
absl::Status LogSalvage::fill_up_to(std::uint32_t number) {
  for (std::uint32_t missing = last_ + 1; last_ != 0 && missing < number; ++missing) {
    SegmentHeader header{missing, 0, next_number_};
    header.end_as_written = end_as_written(0);
    if (absl::Status status = open_writer(header, 0); !status.ok()) return status;
    if (absl::Status status = close_writer(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LogSalvage::open_writer(const SegmentHeader& header, std::uint64_t bytes) {
  auto writer = CompactedSegmentWriter::create(place_, header, random_.next_u64(), bytes);
  if (!writer.ok()) return writer.status();
  writer_ = *std::move(writer);
  writing_ = header.number;
  return absl::OkStatus();
}

absl::Status LogSalvage::close_writer() {
  if (writer_ == nullptr) return absl::OkStatus();
  if (absl::Status status = keep_(writing_); !status.ok()) return status;
  next_number_ = writer_->next_number();
  const auto segment = writer_->finish(next_number_);
  writer_.reset();
  last_ = writing_;
  is_last_rewritten_ = true;
  return segment.status();
}

absl::Status LogSalvage::finish(const LogExtent& extent) {
  if (!status_.ok()) return status_;
  if (survey_.has_lost_its_end()) {
    const Loss& loss = next_loss();
    if (writer_ == nullptr) {
      // The last segment was unreadable as a whole and has been closed.
      SegmentHeader header{last_ + 1, 0, next_number_};
      header.end_as_written = end_as_written(0);
      if (absl::Status status = open_writer(header, 0); !status.ok()) return status;
    }
    const bool is_end = writing_ == extent.end.segment();
    writer_->leave_out(is_end ? extent.end.offset() : kSegmentHeaderBytes, gap_of(loss));
  }
  if (absl::Status status = close_writer(); !status.ok()) return status;
  return is_last_rewritten_ ? begin_last_segment(last_ + 1) : absl::OkStatus();
}

// A log never ends in a compacted segment, for nothing can be appended to that.
absl::Status LogSalvage::begin_last_segment(std::uint32_t number) {
  auto segment = LogSegment::prepare(place_, number, random_.next_u64(), 64 * kKiB, 64 * kKiB);
  if (!segment.ok()) return segment.status();
  (*segment)->set_first_record(next_number_);
  return (*segment)->begin(place_);
}

}  // namespace gyre::storage

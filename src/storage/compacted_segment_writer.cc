#include "storage/compacted_segment_writer.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/ids.h"
#include "storage/concat.h"
#include "storage/log_scanner.h"

namespace gyre::storage {
namespace {

constexpr std::size_t kBufferBytes = kMiB;
// Synced in steps, so that a commit of the log never waits behind more than this of ours.
constexpr std::uint64_t kSyncStepBytes = 4 * kMiB;

std::string unfinished_path(const LogSegment::Place& place, std::uint32_t number) {
  return concat(place.directory, "/", unfinished_segment_name(number));
}

// By large reads: a mapping faults page by page. Who takes the segment over finds it in memory, as
// the newest end of the log has to be.
bool bring_in(const File& file, std::uint64_t bytes) {
  for (std::uint64_t at = 0; at < bytes; at += kSyncStepBytes) {
    const std::uint64_t count = std::min(kSyncStepBytes, bytes - at);
    file.read_ahead(at, count);
    if (!file.populate(at, count)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::unique_ptr<CompactedSegmentWriter>> CompactedSegmentWriter::create(
    const LogSegment::Place& place, const LogSegment& original, std::uint64_t id,
    std::uint64_t bytes_expected) {
  SegmentHeader header = original.header();
  if (!header.is_compacted()) {
    header.end_as_written = static_cast<std::uint32_t>(original.file_bytes());
  }
  return create(place, header, id, bytes_expected);
}

absl::StatusOr<std::unique_ptr<CompactedSegmentWriter>> CompactedSegmentWriter::create(
    const LogSegment::Place& place, const SegmentHeader& header, std::uint64_t id,
    std::uint64_t bytes_expected) {
  const std::string path = unfinished_path(place, header.number);
  if (place.files.exists(path)) {
    if (absl::Status status = place.files.remove(path); !status.ok()) return status;
  }
  auto file = place.files.open(path, FileSystem::OpenMode::kCreateNew);
  if (!file.ok()) return file.status();
  std::unique_ptr<CompactedSegmentWriter> writer(
      new CompactedSegmentWriter(place, header, id, *std::move(file)));
  const std::uint64_t bytes = std::max<std::uint64_t>(bytes_expected, kSegmentHeaderBytes);
  if (absl::Status status = writer->file_->allocate(0, bytes); !status.ok()) return status;
  return writer;
}

CompactedSegmentWriter::CompactedSegmentWriter(const LogSegment::Place& place,
                                               const SegmentHeader& header, std::uint64_t id,
                                               std::unique_ptr<File> file)
    : place_(place), header_(header), seed_(record_seed(id)), file_(std::move(file)) {
  header_.id = id;
  header_.version = kLogVersion;
  header_.owner = place.owner;
  buffer_.reserve(kBufferBytes);
}

CompactedSegmentWriter::~CompactedSegmentWriter() {
  if (is_finished_) return;
  file_.reset();
  place_.files.remove(unfinished_path(place_, header_.number)).IgnoreError();
}

absl::Status CompactedSegmentWriter::add(RecordType type, std::uint32_t as_written,
                                         ByteSpan payload) {
  if (absl::Status status = put_gap(); !status.ok()) return status;
  if (type == RecordType::kEvent) {
    const auto in_file = static_cast<std::uint32_t>(written_ + buffer_.size());
    events_.push_back({as_written, in_file});
  }
  absl::Status status = put_record(type, as_written, payload);
  ++index_;
  return status;
}

void CompactedSegmentWriter::leave_out(std::uint32_t as_written, LogGap gap) {
  if (gap_.records == 0 && gap_.rows == 0) gap_as_written_ = as_written;
  gap_.records += gap.records;
  gap_.rows += gap.rows;
  rows_left_out_ += gap.rows;
}

absl::Status CompactedSegmentWriter::put_gap() {
  if (gap_.records == 0 && gap_.rows == 0) return absl::OkStatus();
  std::uint8_t payload[kGapPayloadBytes];
  store_u32(payload, gap_.records);
  store_u32(payload + 4, gap_.rows);
  absl::Status status = put_record(RecordType::kGap, gap_as_written_, payload);
  index_ += gap_.records;
  gap_ = {};
  return status;
}

absl::Status CompactedSegmentWriter::put_record(RecordType type, std::uint32_t as_written,
                                                ByteSpan payload) {
  const std::size_t begin = buffer_.size();
  const std::uint64_t bytes = record_bytes(payload.size());
  buffer_.resize(begin + bytes, 0);
  std::uint8_t* const at = buffer_.data() + begin;
  RecordHeader header;
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  header.type = static_cast<std::uint8_t>(type);
  header.index = index_;
  header.synced = as_written;
  encode_record_header(at, header);
  std::copy(payload.begin(), payload.end(), at + kRecordHeaderBytes);
  seal_record(seed_, at, bytes);
  return buffer_.size() < kBufferBytes ? absl::OkStatus() : flush();
}

absl::Status CompactedSegmentWriter::flush() {
  const ByteSpan part(buffer_);
  if (absl::Status status = file_->write_at(written_, {&part, 1}); !status.ok()) return status;
  content_crc_ = crc32c(content_crc_, part);
  written_ += part.size();
  buffer_.clear();
  if (written_ - synced_ < kSyncStepBytes) return absl::OkStatus();
  synced_ = written_;
  return file_->sync_data();
}

absl::StatusOr<std::unique_ptr<LogSegment>> CompactedSegmentWriter::finish(
    std::uint64_t end_number) {
  if (absl::Status status = put_gap(); !status.ok()) return status;
  GYRE_ASSERT_CMP(header_.first_record + index_, ==, end_number);
  if (absl::Status status = write_table_and_header(); !status.ok()) return status;
  if (absl::Status status = file_->truncate(written_); !status.ok()) return status;
  if (absl::Status status = file_->sync_data(); !status.ok()) return status;
  file_->drop_cached();
  auto segment = LogSegment::open_unfinished(place_, header_.number);
  if (!segment.ok()) return segment.status();
  if ((*segment)->is_mapped() && !bring_in((*segment)->file(), (*segment)->file_bytes())) {
    return read_back_failed();
  }
  (*segment)->set_sealed_end(header_.records_end);
  if (absl::Status status = check_read_back(**segment, end_number); !status.ok()) return status;

  const std::string path = concat(place_.directory, "/", segment_name(header_.number));
  absl::Status status = place_.files.rename(unfinished_path(place_, header_.number), path);
  if (!status.ok()) return status;
  is_finished_ = true;
  status = place_.files.sync_directory(place_.directory);
  if (!status.ok()) return status;
  return segment;
}

absl::Status CompactedSegmentWriter::write_table_and_header() {
  header_.records_end = static_cast<std::uint32_t>(written_ + buffer_.size());
  header_.event_count = static_cast<std::uint32_t>(events_.size());
  const std::vector<std::uint8_t> table = OffsetTable::encode(events_, seed_);
  buffer_.insert(buffer_.end(), table.begin(), table.end());
  if (absl::Status status = flush(); !status.ok()) return status;
  const SegmentHeaderBytes bytes = encode_segment_header(header_);
  const ByteSpan part = bytes;
  return file_->write_at(0, {&part, 1});
}

// Compaction destroys the only other copy, so neither the disk nor this code is believed before.
absl::Status CompactedSegmentWriter::check_read_back(const LogSegment& segment,
                                                     std::uint64_t end_number) const {
  const ByteSpan content = segment.file_span().subspan(kSegmentHeaderBytes);
  bool is_same = crc32c(0, content) == content_crc_;
  LogScanner scanner(segment.file_span(), segment.header(), kSegmentHeaderBytes,
                     header_.first_record);
  std::uint64_t rows_left_out = 0;
  std::uint32_t events = 0;
  LogRecord record;
  for (std::uint32_t at = scanner.offset(); scanner.next(record) == LogScanner::Step::kRecord;
       at = scanner.offset()) {
    if (record.type == RecordType::kGap) rows_left_out += decode_gap(record.payload.data()).rows;
    if (record.type != RecordType::kEvent) continue;
    is_same = is_same && segment.offset_table()->find(record.position.offset()) == at;
    ++events;
  }
  is_same = is_same && events == header_.event_count && rows_left_out == rows_left_out_ &&
            scanner.offset() == header_.records_end && scanner.number() == end_number &&
            segment.offset_table()->is_sound();
  return is_same ? absl::OkStatus() : read_back_failed();
}

absl::Status CompactedSegmentWriter::read_back_failed() const {
  return absl::DataLossError(concat(unfinished_path(place_, header_.number),
                                    " reads back otherwise than it was written; the disk fails"));
}

}  // namespace gyre::storage

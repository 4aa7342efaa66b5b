#include "storage/log_scanner.h"

#include "gyre/base/assert.h"

namespace gyre::storage {
namespace {

// Without the offset table of a compacted segment.
ByteSpan records_of(ByteSpan segment, const SegmentHeader& header) {
  if (!header.is_compacted()) return segment;
  GYRE_ASSERT_CMP(header.records_end, <=, segment.size());
  return segment.first(header.records_end);
}

bool is_of_compaction(std::uint8_t type) {
  return type == static_cast<std::uint8_t>(RecordType::kGap);
}

}  // namespace

LogScanner::LogScanner(ByteSpan segment, const SegmentHeader& header, std::uint32_t offset,
                       std::uint64_t number)
    : segment_(records_of(segment, header)),
      header_(header),
      seed_(record_seed(header.id)),
      offset_(offset),
      number_(number),
      is_cleanly_ended_(offset == kSegmentHeaderBytes) {
  GYRE_ASSERT_CMP(offset, >=, kSegmentHeaderBytes);
  GYRE_ASSERT_CMP(offset, <=, segment.size());
  GYRE_ASSERT(offset % kRecordAlignment == 0);
  GYRE_ASSERT_CMP(number, >=, header.first_record);
}

LogScanner::Step LogScanner::next(LogRecord& record) {
  for (;;) {
    RecordHeader header;
    const Step step = header_.is_compacted() ? look_in_compacted(header) : look(header);
    if (step != Step::kRecord) return step;
    const std::uint8_t* const payload = segment_.data() + offset_ + kRecordHeaderBytes;
    const auto bytes = static_cast<std::uint32_t>(record_bytes(header.payload_bytes));
    const std::uint32_t begin = header_.is_compacted() ? header.synced : offset_;
    const bool is_start = !header_.is_compacted() || offset_ == kSegmentHeaderBytes;
    record.start = is_start ? LogPosition::at(header_.number, offset_) : LogPosition{};
    offset_ += bytes;
    is_cleanly_ended_ = header.type == kMarkType;
    if (header.type == kMarkType) continue;
    record.type = static_cast<RecordType>(header.type);
    record.position = LogPosition::at(header_.number, begin);
    record.end = LogPosition::at(header_.number, begin + bytes);
    record.number = number_;
    record.payload = {payload, header.payload_bytes};
    offset_as_written_ = begin;
    number_ += record.type == RecordType::kGap ? decode_gap(payload).records : 1;
    return Step::kRecord;
  }
}

// What stands here: a record, marks included, or the end.
LogScanner::Step LogScanner::look(RecordHeader& header) const {
  if (segment_.size() - offset_ < kRecordHeaderBytes) return Step::kEnd;
  const std::uint8_t* const at = segment_.data() + offset_;
  if (load_u64(at) == 0 && load_u64(at + 8) == 0) return Step::kEnd;
  header = decode_record_header(at);
  if (header.index != index() || !is_valid_record(offset_, header)) return Step::kDamaged;
  return is_of_compaction(header.type) ? Step::kDamaged : Step::kRecord;
}

// There is no unwritten space, and no mark; offsets as written ascend, two records that stand for
// one having the same.
LogScanner::Step LogScanner::look_in_compacted(RecordHeader& header) const {
  if (offset_ == segment_.size()) return Step::kEnd;
  if (segment_.size() - offset_ < kRecordHeaderBytes) return Step::kDamaged;
  const std::uint8_t* const at = segment_.data() + offset_;
  header = decode_record_header(at);
  if (header.index != index() || !is_valid_record(offset_, header)) return Step::kDamaged;
  const bool fits = header.synced >= offset_as_written_ && header.synced < header_.end_as_written &&
                    header.synced % kRecordAlignment == 0;
  if (!fits || header.type == kMarkType) return Step::kDamaged;
  if (header.type != static_cast<std::uint8_t>(RecordType::kGap)) return Step::kRecord;
  const bool is_gap = header.payload_bytes == kGapPayloadBytes &&
                      decode_gap(at + kRecordHeaderBytes).records <= UINT32_MAX - header.index;
  return is_gap ? Step::kRecord : Step::kDamaged;
}

bool LogScanner::is_valid_record(std::uint64_t offset, const RecordHeader& header) const {
  if (header.type == 0) return false;
  const std::uint64_t bytes = record_bytes(header.payload_bytes);
  if (bytes > segment_.size() - offset) return false;
  return header.crc == record_crc(seed_, segment_.data() + offset, bytes);
}

LogScanner::Remains LogScanner::examine_remains() const {
  Remains remains;
  std::uint64_t end = segment_.size();
  while (end - offset_ >= 8 && load_u64(segment_.data() + end - 8) == 0) end -= 8;
  while (end > offset_ && segment_[end - 1] == 0) --end;
  remains.bytes = end - offset_;

  for (std::uint64_t at = std::uint64_t{offset_} + kRecordAlignment;
       at < end && segment_.size() - at >= kRecordHeaderBytes; at += kRecordAlignment) {
    if (!proves_damage(at)) continue;
    remains.proof_of_damage = static_cast<std::uint32_t>(at);
    break;
  }
  return remains;
}

std::optional<LogScanner::Place> LogScanner::find_next_record() const {
  for (std::uint64_t at = std::uint64_t{offset_} + kRecordAlignment;
       at + kRecordHeaderBytes <= segment_.size(); at += kRecordAlignment) {
    const RecordHeader header = decode_record_header(segment_.data() + at);
    if (!may_follow(at, header) || !is_valid_record(at, header)) continue;
    return Place{static_cast<std::uint32_t>(at), header_.first_record + header.index};
  }
  return std::nullopt;
}

// Checks of the header come first. They are so strict that hardly a checksum is computed for
// anything but a record, whatever a peer wrote into an event: text has no such small numbers.
bool LogScanner::may_follow(std::uint64_t offset, const RecordHeader& header) const {
  if (header.type == 0 || header.index < index()) return false;
  // Of a compacted segment what was lost may have been a gap that stands for any number.
  if (header_.is_compacted()) return header.synced >= offset_as_written_;
  const std::uint64_t records_between_max = (offset - offset_) / kRecordHeaderBytes;
  return header.index - index() <= records_between_max;
}

bool LogScanner::proves_damage(std::uint64_t offset) const {
  const RecordHeader header = decode_record_header(segment_.data() + offset);
  if (!may_follow(offset, header)) return false;
  if (header.synced <= offset_ || header.synced > offset) return false;
  return is_valid_record(offset, header);
}

}  // namespace gyre::storage

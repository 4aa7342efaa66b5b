#include "storage/log_scanner.h"

#include "gyre/base/assert.h"

namespace gyre::storage {

LogScanner::LogScanner(ByteSpan segment, const SegmentHeader& header, std::uint32_t offset,
                       std::uint64_t number)
    : segment_(segment),
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
    if (segment_.size() - offset_ < kRecordHeaderBytes) return Step::kEnd;
    const std::uint8_t* const at = segment_.data() + offset_;
    if (load_u64(at) == 0 && load_u64(at + 8) == 0) return Step::kEnd;
    const RecordHeader header = decode_record_header(at);
    if (header.index != index() || !is_valid_record(offset_, header)) return Step::kDamaged;

    const std::uint32_t begin = offset_;
    offset_ += static_cast<std::uint32_t>(record_bytes(header.payload_bytes));
    is_cleanly_ended_ = header.type == kMarkType;
    if (header.type == kMarkType) continue;
    record.type = static_cast<RecordType>(header.type);
    record.position = LogPosition::at(header_.number, begin);
    record.end = LogPosition::at(header_.number, offset_);
    record.number = number_++;
    record.payload = {at + kRecordHeaderBytes, header.payload_bytes};
    return Step::kRecord;
  }
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

// Checks of the header come first. They are so strict that hardly a checksum is computed for
// anything but a record, whatever a peer wrote into an event: text has no such small numbers.
bool LogScanner::proves_damage(std::uint64_t offset) const {
  const RecordHeader header = decode_record_header(segment_.data() + offset);
  if (header.type == 0 || header.index < index()) return false;
  const std::uint64_t records_between_max = (offset - offset_) / kRecordHeaderBytes;
  if (header.index - index() > records_between_max) return false;
  if (header.synced <= offset_ || header.synced > offset) return false;
  return is_valid_record(offset, header);
}

}  // namespace gyre::storage

// CompactedSegmentWriter: puts a compacted segment together, record by record, in a file of its
// own, and sees to it that the disk has what was written.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "storage/log_segment.h"
#include "storage/offset_table.h"

namespace gyre::storage {

class CompactedSegmentWriter {
 public:
  // `original` is the segment that will be replaced; `id` that of the new one. An unfinished file
  // of an earlier attempt is removed.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<CompactedSegmentWriter>> create(
      const LogSegment::Place& place, const LogSegment& original, std::uint64_t id,
      std::uint64_t bytes_expected);
  // The same for a segment that cannot be opened any more: `header` says its number, the number of
  // its first record, and where it ended as first written.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<CompactedSegmentWriter>> create(
      const LogSegment::Place& place, const SegmentHeader& header, std::uint64_t id,
      std::uint64_t bytes_expected);
  // Removes the file unless finish() has come to its end.
  ~CompactedSegmentWriter();
  CompactedSegmentWriter(const CompactedSegmentWriter&) = delete;
  CompactedSegmentWriter& operator=(const CompactedSegmentWriter&) = delete;

  // Adds a record that counts one. `as_written`: its offset in the segment as it was first.
  [[nodiscard]] absl::Status add(RecordType type, std::uint32_t as_written, ByteSpan payload);
  // Leaves out `records` records and `rows` rows that stood there.
  void leave_out(std::uint32_t as_written, LogGap gap);

  // The number of the record that comes next.
  [[nodiscard]] std::uint64_t next_number() const {
    return header_.first_record + index_ + gap_.records;
  }

  // Writes table and header, syncs, reads everything back and gives the file its name. The segment
  // ends before record `end_number`.
  [[nodiscard]] absl::StatusOr<std::unique_ptr<LogSegment>> finish(std::uint64_t end_number);

 private:
  CompactedSegmentWriter(const LogSegment::Place& place, const SegmentHeader& header,
                         std::uint64_t id, std::unique_ptr<File> file);
  [[nodiscard]] absl::Status put_gap();
  [[nodiscard]] absl::Status put_record(RecordType type, std::uint32_t as_written,
                                        ByteSpan payload);
  [[nodiscard]] absl::Status flush();
  [[nodiscard]] absl::Status write_table_and_header();
  [[nodiscard]] absl::Status check_read_back(const LogSegment& segment,
                                             std::uint64_t end_number) const;
  [[nodiscard]] absl::Status read_back_failed() const;

  const LogSegment::Place place_;
  SegmentHeader header_;
  const std::uint32_t seed_;
  std::unique_ptr<File> file_;
  bool is_finished_ = false;

  std::vector<std::uint8_t> buffer_;  // Not yet written.
  std::uint64_t written_ = kSegmentHeaderBytes;
  std::uint64_t synced_ = 0;
  std::uint32_t content_crc_ = 0;  // Of everything behind the header.
  std::uint32_t index_ = 0;        // Of the next record.
  std::uint64_t rows_left_out_ = 0;
  LogGap gap_;  // Left out since the last record.
  std::uint32_t gap_as_written_ = 0;
  std::vector<OffsetPair> events_;
};

}  // namespace gyre::storage

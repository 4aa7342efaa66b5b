// LogScanner: reads the records of one segment from bytes in memory, trusting none of them.
//
// In a compacted segment positions are those of the records as first written, and a gap stands for
// the records that were dropped; offset() is always a place in the bytes.
//
// Any bytes may stand there; the scanner gives records, or says where they end and what it found
// behind the end. It has no file and changes nothing.
#pragma once

#include <cstdint>
#include <optional>

#include "gyre/base/bytes.h"
#include "gyre/storage/event_log.h"
#include "storage/log_format.h"

namespace gyre::storage {

class LogScanner {
 public:
  // `segment` is the whole file, header included, and outlives the scanner. Starts with the record
  // at `offset`, which has `number`.
  // Requires: offset is in [kSegmentHeaderBytes, segment.size()] and aligned, and
  // number >= header.first_record.
  LogScanner(ByteSpan segment, const SegmentHeader& header, std::uint32_t offset,
             std::uint64_t number);

  enum class Step : std::uint8_t {
    kRecord,
    kEnd,      // The file ends here, or space that was never written begins.
    kDamaged,  // Neither a valid record nor unwritten space.
  };
  // Marks are passed over. After kEnd and kDamaged the scanner stays where it is. Gaps come with
  // the number of the first record that was dropped.
  [[nodiscard]] Step next(LogRecord& record);

  // Of the next record.
  [[nodiscard]] std::uint32_t offset() const { return offset_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  // The last thing passed was a mark, or nothing was passed since the beginning of the segment.
  [[nodiscard]] bool is_cleanly_ended() const { return is_cleanly_ended_; }

  struct Remains {
    std::uint64_t bytes = 0;  // From here to the last byte that is not zero.
    // Offset of a later record that was made when the bytes here were durable. So they were lost to
    // damage: no power failure takes away what had been synced.
    std::optional<std::uint32_t> proof_of_damage;
  };
  // What stands from here to the end of the file.
  [[nodiscard]] Remains examine_remains() const;

  struct Place {
    std::uint32_t offset = 0;
    std::uint64_t number = 0;
  };
  // The next whole record behind a damaged place, for whoever goes on there.
  [[nodiscard]] std::optional<Place> find_next_record() const;

 private:
  [[nodiscard]] Step look(RecordHeader& header) const;
  [[nodiscard]] Step look_in_compacted(RecordHeader& header) const;
  [[nodiscard]] bool is_valid_record(std::uint64_t offset, const RecordHeader& header) const;
  [[nodiscard]] bool proves_damage(std::uint64_t offset) const;
  [[nodiscard]] bool may_follow(std::uint64_t offset, const RecordHeader& header) const;
  [[nodiscard]] std::uint32_t index() const {
    return static_cast<std::uint32_t>(number_ - header_.first_record);
  }

  const ByteSpan segment_;
  const SegmentHeader header_;
  const std::uint32_t seed_;
  std::uint32_t offset_;
  std::uint64_t number_;
  std::uint32_t offset_as_written_ = kSegmentHeaderBytes;  // Compacted: of the last record.
  bool is_cleanly_ended_;
};

}  // namespace gyre::storage

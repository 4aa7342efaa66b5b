// OffsetTable: where the events of a compacted segment stand in its file.
//
// Positions in the log never change, so an event is asked for by the offset that it had as first
// written. The table stands behind the records: pairs of offsets, ascending, and a fence with the
// first offset of every 512 pairs. The fence is kept in memory (two bytes for a thousand), so a
// look-up touches one page of the file. FORMAT.md shows the bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/bytes.h"
#include "storage/log_format.h"

namespace gyre::storage {

struct OffsetPair {
  std::uint32_t as_written;
  std::uint32_t in_file;
};

class OffsetTable {
 public:
  // The table of a segment whose whole file is `segment`, which outlives the table. Refuses one
  // that is not where the header says, or whose fence fails its checksum; the message lacks the
  // file's name.
  [[nodiscard]] static absl::StatusOr<OffsetTable> open(ByteSpan segment,
                                                        const SegmentHeader& header);

  // Bytes of a table of `count` pairs.
  [[nodiscard]] static std::uint64_t bytes_of(std::uint32_t count);
  [[nodiscard]] static std::vector<std::uint8_t> encode(const std::vector<OffsetPair>& pairs,
                                                        std::uint32_t seed);

  [[nodiscard]] std::uint32_t size() const { return count_; }
  // Requires: i < size().
  [[nodiscard]] OffsetPair pair(std::uint32_t i) const;
  // Where the event stands that was written at `as_written`; nothing if there is none.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t as_written) const;
  // True if the pairs agree with their checksum. Reads all of them.
  [[nodiscard]] bool is_sound() const;

 private:
  OffsetTable(const std::uint8_t* pairs, std::uint32_t count, std::uint32_t seed)
      : pairs_(pairs), count_(count), seed_(seed) {}

  const std::uint8_t* pairs_;
  std::uint32_t count_;
  std::uint32_t seed_;
  std::uint32_t pairs_crc_ = 0;
  std::vector<std::uint32_t> fence_;
};

}  // namespace gyre::storage

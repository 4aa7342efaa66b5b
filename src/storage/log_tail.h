// LogTail: the records that the kernel has not taken yet, in memory.
//
// Records are copied into chunks of 1 MiB, in order and each within one chunk; the writer reads
// them from there. Chunks whose records are written are used again, so that a busy log allocates
// nothing. The shard owns the tail. The writer reads only what a commit in flight covers, and the
// shard writes only behind that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/base/ids.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

class LogSegment;

// Neighbouring records of one segment, as a commit hands them to the writer.
struct LogPiece {
  LogSegment* segment;
  LogPosition begin;
  ByteSpan bytes;
};

class LogTail {
 public:
  LogTail();
  ~LogTail();

  // Memory for a record of `bytes` bytes at `position`, aligned to 8.
  // Requires: `position` is the end of the record before or the beginning of a segment, and
  // `segment` is its segment.
  [[nodiscard]] std::uint8_t* extend(LogSegment& segment, LogPosition position,
                                     std::uint32_t bytes);

  // The record at `position`. Requires: it is not released.
  [[nodiscard]] const std::uint8_t* find(LogPosition position) const;

  // Replaces `pieces` by everything at or behind `from`.
  void collect(LogPosition from, std::vector<LogPiece>& pieces) const;

  // The records before `written` can be read from the file now. What was lent by find() stays until
  // the release after this one, so that it lives to the end of a turn.
  void release(LogPosition written);

 private:
  static constexpr std::uint32_t kChunkBytes = static_cast<std::uint32_t>(kMiB);
  // A log that fell quiet gives memory back but for this.
  static constexpr std::size_t kFreeChunksMax = 4;

  struct Chunk {
    std::unique_ptr<std::uint8_t[]> memory;
    std::uint32_t capacity = 0;
    std::uint32_t used = 0;
    LogSegment* segment = nullptr;
    LogPosition begin;

    [[nodiscard]] LogPosition end() const {
      return LogPosition::at(begin.segment(), begin.offset() + used);
    }
  };
  [[nodiscard]] Chunk take_chunk(std::uint32_t bytes_min);
  void keep_if_useful(Chunk chunk);

  std::vector<Chunk> chunks_;   // In order of position; the last one is being filled.
  std::vector<Chunk> cooling_;  // Released last time: somebody may still read them in this turn.
  std::vector<Chunk> free_;
};

}  // namespace gyre::storage

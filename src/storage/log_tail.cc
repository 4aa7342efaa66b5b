#include "storage/log_tail.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"

namespace gyre::storage {

LogTail::LogTail() = default;
LogTail::~LogTail() = default;

std::uint8_t* LogTail::extend(LogSegment& segment, LogPosition position, std::uint32_t bytes) {
  const bool fits = !chunks_.empty() && chunks_.back().end() == position &&
                    chunks_.back().capacity - chunks_.back().used >= bytes;
  if (!fits) {
    Chunk chunk = take_chunk(bytes);
    chunk.segment = &segment;
    chunk.begin = position;
    chunk.used = 0;
    chunks_.push_back(std::move(chunk));
  }
  Chunk& chunk = chunks_.back();
  std::uint8_t* const at = chunk.memory.get() + chunk.used;
  chunk.used += bytes;
  return at;
}

const std::uint8_t* LogTail::find(LogPosition position) const {
  // From the back: what was appended last is asked for most.
  for (std::size_t i = chunks_.size(); i-- > 0;) {
    const Chunk& chunk = chunks_[i];
    if (chunk.begin > position) continue;
    GYRE_ASSERT(position < chunk.end());
    return chunk.memory.get() + (position.offset() - chunk.begin.offset());
  }
  GYRE_ASSERT(!"the record is in the tail");
  return nullptr;
}

void LogTail::collect(LogPosition from, std::vector<LogPiece>& pieces) const {
  pieces.clear();
  for (const Chunk& chunk : chunks_) {
    if (chunk.end() <= from) continue;
    const LogPosition begin = std::max(from, chunk.begin);
    const std::uint32_t skipped = begin.offset() - chunk.begin.offset();
    pieces.push_back({chunk.segment, begin, {chunk.memory.get() + skipped, chunk.used - skipped}});
  }
}

void LogTail::release(LogPosition written) {
  for (Chunk& chunk : cooling_) keep_if_useful(std::move(chunk));
  cooling_.clear();
  // The last chunk stays, to be filled further.
  std::size_t count = 0;
  while (count + 1 < chunks_.size() && chunks_[count].end() <= written) ++count;
  const auto end = chunks_.begin() + static_cast<std::ptrdiff_t>(count);
  std::move(chunks_.begin(), end, std::back_inserter(cooling_));
  chunks_.erase(chunks_.begin(), end);
}

LogTail::Chunk LogTail::take_chunk(std::uint32_t bytes_min) {
  if (bytes_min <= kChunkBytes && !free_.empty()) {
    Chunk chunk = std::move(free_.back());
    free_.pop_back();
    return chunk;
  }
  Chunk chunk;
  chunk.capacity = std::max(kChunkBytes, bytes_min);
  chunk.memory = std::make_unique_for_overwrite<std::uint8_t[]>(chunk.capacity);
  return chunk;
}

void LogTail::keep_if_useful(Chunk chunk) {
  // A chunk made for one big record would be a big waste for small ones.
  if (chunk.capacity == kChunkBytes && free_.size() < kFreeChunksMax) {
    free_.push_back(std::move(chunk));
  }
}

}  // namespace gyre::storage

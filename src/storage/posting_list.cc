#include "storage/posting_list.h"

#include <algorithm>
#include <utility>

namespace gyre::storage {
namespace {

// "Stands left of" in storage: oldest first.
template <typename Left, typename Right>
bool is_behind(const Left& left, const Right& right) {
  return is_before(right, left);
}

// The first entry of the chunk that is not behind `place`, as an index.
std::size_t index_of(const std::vector<PostingEntry>& chunk, const PostingPlace& place) {
  const auto found = std::lower_bound(chunk.begin(), chunk.end(), place,
                                      [](const PostingEntry& entry, const PostingPlace& wanted) {
                                        return is_behind(entry, wanted);
                                      });
  return static_cast<std::size_t>(found - chunk.begin());
}

PostingPlace place_of(const PostingEntry& entry) {
  return {entry.created_at, entry.id_prefix, entry.sequence};
}

}  // namespace

void PostingList::add(const PostingEntry& entry) {
  ++size_;
  if (chunks_.empty()) chunks_.emplace_back();
  std::size_t chunk = chunk_for(place_of(entry));
  const std::size_t index = index_of(chunks_[chunk], place_of(entry));
  const bool is_newest = chunk + 1 == chunks_.size() && index == chunks_[chunk].size();
  if (chunks_[chunk].size() < kChunkEntries) {
    chunks_[chunk].insert(chunks_[chunk].begin() + static_cast<std::ptrdiff_t>(index), entry);
  } else if (is_newest) {
    // In order of time chunks fill up completely.
    chunks_.emplace_back().reserve(kChunkEntries);
    chunks_.back().push_back(entry);
  } else {
    split(chunk);
    if (index > chunks_[chunk].size()) ++chunk;
    const std::size_t half_index = index_of(chunks_[chunk], place_of(entry));
    chunks_[chunk].insert(chunks_[chunk].begin() + static_cast<std::ptrdiff_t>(half_index), entry);
  }
}

bool PostingList::seek(const PostingPlace& start, Position& position) const {
  if (size_ == 0) return false;
  const std::size_t chunk = chunk_for(start);
  const Chunk& entries = chunks_[chunk];
  std::size_t index = index_of(entries, start);
  // `start` itself belongs to the walk, what is left of it too.
  const bool is_start = index < entries.size() && !is_before(entries[index], start);
  if (!is_start) {
    if (index == 0) return false;  // Only in the first chunk: everything is before `start`.
    --index;
  }
  position = {static_cast<std::uint32_t>(chunk), static_cast<std::uint32_t>(index)};
  return true;
}

bool PostingList::advance(Position& position) const {
  if (position.index > 0) {
    --position.index;
    return true;
  }
  if (position.chunk == 0) return false;
  --position.chunk;
  position.index = static_cast<std::uint32_t>(chunks_[position.chunk].size() - 1);
  return true;
}

std::size_t PostingList::count(std::uint64_t since, std::uint64_t until) const {
  if (since > until || size_ == 0) return 0;
  // Behind the last place of a second begins the second before it.
  const std::size_t not_too_new =
      until == UINT64_MAX ? size_ : count_behind({until + 1, UINT64_MAX, UINT32_MAX});
  const std::size_t too_old = since == 0 ? 0 : count_behind({since, UINT64_MAX, UINT32_MAX});
  return not_too_new - too_old;
}

std::size_t PostingList::count_behind(const PostingPlace& place) const {
  const std::size_t chunk = chunk_for(place);
  std::size_t count = index_of(chunks_[chunk], place);
  for (std::size_t i = 0; i < chunk; ++i) count += chunks_[i].size();
  return count;
}

std::size_t PostingList::chunk_for(const PostingPlace& place) const {
  const auto begins_left = [&place](const Chunk& chunk) {
    return !is_before(chunk.front(), place);
  };
  if (chunks_.size() == 1 || begins_left(chunks_.back())) return chunks_.size() - 1;
  const auto found = std::partition_point(chunks_.begin(), chunks_.end(), begins_left);
  const auto chunk = static_cast<std::size_t>(found - chunks_.begin());
  return chunk == 0 ? 0 : chunk - 1;
}

void PostingList::split(std::size_t chunk) {
  constexpr std::size_t kHalf = kChunkEntries / 2;
  Chunk young;
  young.reserve(kChunkEntries);
  Chunk& old = chunks_[chunk];
  young.assign(old.begin() + kHalf, old.end());
  old.resize(kHalf);
  chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(chunk) + 1, std::move(young));
}

}  // namespace gyre::storage

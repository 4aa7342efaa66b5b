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

// The first entry of the chunk that is not behind `place`, as an index. News belongs near the young
// end, where a few steps are cheaper than halving through lines that are not in the cache.
std::size_t index_of(const std::vector<PostingEntry>& chunk, const PostingPlace& place) {
  constexpr int kSteps = 8;
  std::size_t end = chunk.size();
  for (int step = 0; step < kSteps; ++step, --end) {
    if (end == 0 || is_behind(chunk[end - 1], place)) return end;
  }
  const auto found =
      std::lower_bound(chunk.begin(), chunk.begin() + static_cast<std::ptrdiff_t>(end), place,
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
  std::size_t number = chunk_for(place_of(entry));
  std::size_t index = index_of(chunk(number), place_of(entry));
  if (chunk(number).size() == kChunkEntries) {
    const bool is_newest = number == older_.size() && index == kChunkEntries;
    if (is_newest) {
      // In order of time chunks fill up completely.
      begin_chunk();
    } else {
      split(number);
    }
    if (is_newest || index > chunk(number).size()) ++number;
    index = index_of(chunk(number), place_of(entry));
  }
  Chunk& entries = chunk(number);
  entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(index), entry);
}

void PostingList::begin_chunk() {
  older_.push_back(std::move(youngest_));
  youngest_ = Chunk();
  youngest_.reserve(kChunkEntries);
}

bool PostingList::seek(const PostingPlace& start, Position& position) const {
  if (size_ == 0) return false;
  const std::size_t number = chunk_for(start);
  const Chunk& entries = chunk(number);
  std::size_t index = index_of(entries, start);
  // `start` itself belongs to the walk, what is left of it too.
  const bool is_start = index < entries.size() && !is_before(entries[index], start);
  if (!is_start) {
    if (index == 0) return false;  // Only in the first chunk: everything is before `start`.
    --index;
  }
  position = {static_cast<std::uint32_t>(number), static_cast<std::uint32_t>(index)};
  return true;
}

bool PostingList::advance(Position& position) const {
  if (position.index > 0) {
    --position.index;
    return true;
  }
  if (position.chunk == 0) return false;
  --position.chunk;
  position.index = static_cast<std::uint32_t>(chunk(position.chunk).size() - 1);
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
  const std::size_t number = chunk_for(place);
  std::size_t count = index_of(chunk(number), place);
  for (std::size_t i = 0; i < number; ++i) count += older_[i].size();
  return count;
}

std::size_t PostingList::chunk_for(const PostingPlace& place) const {
  const auto begins_left = [&place](const Chunk& chunk) {
    return !is_before(chunk.front(), place);
  };
  if (older_.empty() || begins_left(youngest_)) return older_.size();
  const auto found = std::partition_point(older_.begin(), older_.end(), begins_left);
  const auto number = static_cast<std::size_t>(found - older_.begin());
  return number == 0 ? 0 : number - 1;
}

void PostingList::split(std::size_t number) {
  constexpr std::size_t kHalf = kChunkEntries / 2;
  Chunk young;
  young.reserve(kChunkEntries);
  Chunk& old = chunk(number);
  young.assign(old.begin() + kHalf, old.end());
  old.resize(kHalf);
  if (number == older_.size()) {
    older_.push_back(std::exchange(youngest_, std::move(young)));
  } else {
    older_.insert(older_.begin() + static_cast<std::ptrdiff_t>(number) + 1, std::move(young));
  }
}

}  // namespace gyre::storage

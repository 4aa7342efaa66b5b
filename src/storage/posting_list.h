// PostingList: the postings of one term in memory, in order, for terms that have more than one.
//
// Entries stand oldest first in chunks of bounded size, because news arrives at the young end:
// there an insertion is an append. Anywhere else it moves at most one chunk. A B-tree of two
// levels, in other words, that also knows its size and answers "how many" by adding up chunk sizes.
// The youngest chunk stands by itself, so that an append misses the cache twice and not three
// times.
#pragma once

#include <cstddef>
#include <vector>

#include "storage/posting_order.h"

namespace gyre::storage {

class PostingList {
 public:
  // An entry's place; changes its meaning with every add().
  struct Position {
    std::uint32_t chunk = 0;
    std::uint32_t index = 0;
  };

  // Requires: not equal to an entry that is here already.
  void add(const PostingEntry& entry);
  // Fetches what add() of a young entry will touch.
  void prefetch_end() const { __builtin_prefetch(youngest_.data() + youngest_.size()); }
  // Fetches what for_each() begins with.
  void prefetch_newest() const {
    if (!youngest_.empty()) __builtin_prefetch(&youngest_.back());
  }
  [[nodiscard]] std::size_t size() const { return size_; }

  // The first entry at or behind `start` (newest first); false if there is none.
  [[nodiscard]] bool seek(const PostingPlace& start, Position& position) const;
  // To the next older entry; false at the end.
  [[nodiscard]] bool advance(Position& position) const;
  [[nodiscard]] const PostingEntry& at(Position position) const {
    return chunk(position.chunk)[position.index];
  }

  // Calls `visit(entry)` for all, newest first.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (std::size_t number = chunk_count(); number-- > 0;) {
      const Chunk& entries = chunk(number);
      for (std::size_t index = entries.size(); index-- > 0;) visit(entries[index]);
    }
  }

  // Entries with since <= created_at <= until.
  [[nodiscard]] std::size_t count(std::uint64_t since, std::uint64_t until) const;

 private:
  // 128 * 24 bytes: half a chunk is moved in about 50 ns, and 100,000 entries are 800 chunks.
  static constexpr std::size_t kChunkEntries = 128;
  using Chunk = std::vector<PostingEntry>;

  [[nodiscard]] std::size_t chunk_count() const { return older_.size() + 1; }
  [[nodiscard]] const Chunk& chunk(std::size_t number) const {
    return number < older_.size() ? older_[number] : youngest_;
  }
  [[nodiscard]] Chunk& chunk(std::size_t number) {
    return number < older_.size() ? older_[number] : youngest_;
  }
  void begin_chunk();
  // How many entries are strictly behind (older than) `place`.
  [[nodiscard]] std::size_t count_behind(const PostingPlace& place) const;
  // The chunk that `place` belongs to: the last that begins at or behind it, or the first.
  [[nodiscard]] std::size_t chunk_for(const PostingPlace& place) const;
  void split(std::size_t number);

  std::vector<Chunk> older_;
  Chunk youngest_;  // As the older ones not empty, but for a list without entries.
  std::size_t size_ = 0;
};

}  // namespace gyre::storage

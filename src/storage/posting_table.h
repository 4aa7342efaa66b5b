// PostingTable: new postings in memory, found by hashing, written out as a run when it is full.
//
// A hash map from term to postings: most terms (ids, rare tags) have one posting, which stands in
// the map itself; the others have a PostingList. Terms are keyed hashes already, so they are not
// hashed again. The map is split by the highest bits of the term so that growing rehashes a 64th at
// a time: a rehash of everything would stop the shard for tens of milliseconds.
//
// Belongs to the shard while it is active. Frozen, nothing changes it, and shard and worker read it
// both.
#pragma once

#include <array>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gyre/storage/posting_index.h"
#include "storage/posting_list.h"
#include "storage/posting_order.h"
#include "storage/posting_run_format.h"

namespace gyre::storage {

class PostingTable {
 public:
  void add(std::span<const Posting> postings);
  void prefetch(Term term) const { partitions_[partition_of(term)].prefetch(term); }

  // Also a version: places found at one count are to be found again at another.
  [[nodiscard]] std::uint64_t posting_count() const { return posting_count_; }
  [[nodiscard]] RunTermCounts terms() const;

  // A place among a term's postings.
  struct Position {
    const PostingList* list = nullptr;  // Null: the term's only posting.
    PostingList::Position in_list;
  };
  // The first posting of the term at or behind `start`; null if there is none. The entry and the
  // position live until the next add().
  [[nodiscard]] const PostingEntry* seek(Term term, const PostingPlace& start,
                                         Position& position) const;
  [[nodiscard]] static const PostingEntry* advance(Position& position);

  [[nodiscard]] std::uint64_t count(const PostingRange& range) const;

  // Frees a little of a table that is not used any more; false when all is gone. Freeing a full
  // table at once would stop the shard for tens of milliseconds.
  [[nodiscard]] bool free_some();

  // Calls `visit(term, entry)` for all postings by (term, newest first). For the worker: sorts the
  // terms of one partition after the other.
  template <typename Visit>
  void for_each_sorted(const Visit& visit) const;

 private:
  struct Unhashed {
    std::size_t operator()(Term term) const { return static_cast<std::size_t>(term); }
  };
  // The only posting, or with a `list` the number of the list that has them all.
  using Partition = absl::flat_hash_map<Term, PostingEntry, Unhashed>;
  static constexpr int kPartitionBits = 6;
  static constexpr std::uint32_t kNoList = UINT32_MAX;

  [[nodiscard]] static std::size_t partition_of(Term term) {
    return static_cast<std::size_t>(term >> (64 - kPartitionBits));
  }

  void prefetch_list(const PostingEntry& head) const {
    if (head.list != kNoList) __builtin_prefetch(&lists_[head.list]);
  }
  void prefetch_newest(const PostingEntry& head) const {
    if (head.list != kNoList) lists_[head.list].prefetch_newest();
  }

  static constexpr std::size_t kListsFreedAtOnce = 4;

  std::array<Partition, 1 << kPartitionBits> partitions_;
  std::deque<PostingList> lists_;  // A deque: lists stay where they are.
  std::uint64_t posting_count_ = 0;
  std::uint64_t tombstone_term_count_ = 0;
  // Scratch of add(): what goes into a list.
  struct ListAddition {
    PostingList* list;
    PostingEntry entry;
  };
  std::vector<ListAddition> additions_;
  std::size_t freed_partitions_ = 0;
};

// In the order of terms everything lies elsewhere: some steps ahead, so that no step waits for it.
template <typename Visit>
void PostingTable::for_each_sorted(const Visit& visit) const {
  constexpr std::size_t kListAhead = 16;
  constexpr std::size_t kNewestAhead = 8;
  using Found = std::pair<Term, const PostingEntry*>;
  std::vector<Found> terms;
  for (const Partition& partition : partitions_) {
    terms.clear();
    terms.reserve(partition.size());
    for (const auto& [term, entry] : partition) terms.emplace_back(term, &entry);
    std::sort(terms.begin(), terms.end(),
              [](const Found& left, const Found& right) { return left.first < right.first; });
    for (std::size_t i = 0; i < terms.size(); ++i) {
      if (i + kListAhead < terms.size()) prefetch_list(*terms[i + kListAhead].second);
      if (i + kNewestAhead < terms.size()) prefetch_newest(*terms[i + kNewestAhead].second);
      const Term term = terms[i].first;
      const PostingEntry& head = *terms[i].second;
      if (head.list == kNoList) {
        visit(term, head);
      } else {
        lists_[head.list].for_each(
            [&visit, term](const PostingEntry& entry) { visit(term, entry); });
      }
    }
  }
}

}  // namespace gyre::storage

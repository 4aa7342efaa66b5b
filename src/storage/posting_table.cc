#include "storage/posting_table.h"

namespace gyre::storage {

// In steps, each of which fetches what the next one touches: places in the map, lists, ends of
// lists. One posting after the other would wait three times for memory, ten times an event.
void PostingTable::add(std::span<const Posting> postings) {
  for (const Posting& posting : postings) prefetch(posting.term);
  posting_count_ += postings.size();
  additions_.clear();
  for (const Posting& posting : postings) {
    const PostingEntry entry = {posting.created_at, posting.id_prefix, posting.sequence, kNoList};
    const auto [found, is_new] =
        partitions_[partition_of(posting.term)].try_emplace(posting.term, entry);
    if (is_new) {
      if (is_tombstone(posting.term)) ++tombstone_term_count_;
      continue;
    }
    PostingEntry& head = found->second;
    if (head.list == kNoList) {
      lists_.emplace_back().add(head);
      head.list = static_cast<std::uint32_t>(lists_.size() - 1);
    }
    additions_.push_back({&lists_[head.list], entry});
    __builtin_prefetch(additions_.back().list);
  }
  for (const ListAddition& addition : additions_) addition.list->prefetch_end();
  for (const ListAddition& addition : additions_) addition.list->add(addition.entry);
}

RunTermCounts PostingTable::terms() const {
  RunTermCounts terms{0, tombstone_term_count_};
  for (const Partition& partition : partitions_) terms.all += partition.size();
  return terms;
}

const PostingEntry* PostingTable::seek(Term term, const PostingPlace& start,
                                       Position& position) const {
  // Every event that comes in is asked for, and many a table has none.
  if (is_tombstone(term) && tombstone_term_count_ == 0) return nullptr;
  const Partition& partition = partitions_[partition_of(term)];
  const auto found = partition.find(term);
  if (found == partition.end()) return nullptr;
  const PostingEntry& head = found->second;
  if (head.list == kNoList) {
    position = {};
    return is_before(head, start) ? nullptr : &head;
  }
  position.list = &lists_[head.list];
  if (!position.list->seek(start, position.in_list)) return nullptr;
  return &position.list->at(position.in_list);
}

const PostingEntry* PostingTable::advance(Position& position) {
  if (position.list == nullptr || !position.list->advance(position.in_list)) return nullptr;
  return &position.list->at(position.in_list);
}

std::uint64_t PostingTable::count(const PostingRange& range) const {
  const Partition& partition = partitions_[partition_of(range.term)];
  const auto found = partition.find(range.term);
  if (found == partition.end()) return 0;
  const PostingEntry& head = found->second;
  if (head.list != kNoList) return lists_[head.list].count(range.since, range.until);
  return range.since <= head.created_at && head.created_at <= range.until ? 1 : 0;
}

bool PostingTable::free_some() {
  for (std::size_t i = 0; i < kListsFreedAtOnce && !lists_.empty(); ++i) lists_.pop_back();
  if (!lists_.empty()) return true;
  if (freed_partitions_ == partitions_.size()) return false;
  partitions_[freed_partitions_++] = Partition();
  return true;
}

}  // namespace gyre::storage

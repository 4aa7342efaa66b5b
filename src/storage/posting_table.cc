#include "storage/posting_table.h"

namespace gyre::storage {

void PostingTable::add(const Posting& posting) {
  ++posting_count_;
  const PostingEntry entry = {posting.created_at, posting.id_prefix, posting.sequence, kNoList};
  const auto [found, is_new] =
      partitions_[partition_of(posting.term)].try_emplace(posting.term, entry);
  if (is_new) return;
  PostingEntry& head = found->second;
  if (head.list == kNoList) {
    lists_.emplace_back().add(head);
    head.list = static_cast<std::uint32_t>(lists_.size() - 1);
  }
  lists_[head.list].add(entry);
}

std::uint64_t PostingTable::term_count() const {
  std::uint64_t count = 0;
  for (const Partition& partition : partitions_) count += partition.size();
  return count;
}

const PostingEntry* PostingTable::seek(Term term, const PostingPlace& start,
                                       Position& position) const {
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

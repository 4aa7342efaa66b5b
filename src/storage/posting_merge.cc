#include "storage/posting_merge.h"

#include <algorithm>
#include <utility>

namespace gyre::storage {

void PostingMerge::add(const PostingSource& source) {
  sources_.push_back(source);
  heap_.push_back({source.created_at(), source_count() - 1});
  // The standard heap has its greatest element on top; greatest is what stands before all others.
  std::push_heap(heap_.begin(), heap_.end(), [this](const Item& left, const Item& right) {
    return is_item_before(right, left);
  });
}

void PostingMerge::clear() {
  sources_.clear();
  heap_.clear();
}

PostingPlace PostingMerge::top_place() const {
  return {top().created_at(), top().id_prefix(*directory_), top().sequence()};
}

void PostingMerge::advance() {
  PostingSource& source = sources_[heap_.front().source];
  if (!source.advance()) {
    drop();
    return;
  }
  heap_.front().created_at = source.created_at();
  sift_down();
}

void PostingMerge::drop() {
  heap_.front() = heap_.back();
  heap_.pop_back();
  if (!heap_.empty()) sift_down();
}

bool PostingMerge::is_item_before(const Item& left, const Item& right) const {
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  return is_before(sources_[left.source], sources_[right.source], *directory_);
}

void PostingMerge::sift_down() {
  const Item item = heap_.front();
  const std::size_t count = heap_.size();
  std::size_t hole = 0;
  for (;;) {
    std::size_t child = 2 * hole + 1;
    if (child >= count) break;
    if (child + 1 < count && is_item_before(heap_[child + 1], heap_[child])) ++child;
    if (!is_item_before(heap_[child], item)) break;
    heap_[hole] = heap_[child];
    hole = child;
  }
  heap_[hole] = item;
}

}  // namespace gyre::storage

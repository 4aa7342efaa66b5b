// PostingMerge: many sources as one walk, newest first, ties by lowest id.
//
// A heap of sources. What is in several of them comes once from each, one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/posting_source.h"

namespace gyre::storage {

class PostingMerge {
 public:
  explicit PostingMerge(const Directory& directory) : directory_(&directory) {}

  // Sources are numbered from 0 as they are added.
  void add(const PostingSource& source);
  [[nodiscard]] std::uint32_t source_count() const {
    return static_cast<std::uint32_t>(sources_.size());
  }
  void clear();

  [[nodiscard]] bool is_empty() const { return heap_.empty(); }
  // Requires: !is_empty().
  [[nodiscard]] const PostingSource& top() const { return sources_[heap_.front().source]; }
  [[nodiscard]] std::uint32_t top_number() const { return heap_.front().source; }
  [[nodiscard]] PostingPlace top_place() const;
  // Moves the source on top, and the next in order comes up.
  void advance();
  // Forgets the source on top.
  void drop();

 private:
  struct Item {
    std::uint64_t created_at;  // The source's: most comparisons end here.
    std::uint32_t source;
  };
  [[nodiscard]] bool is_item_before(const Item& left, const Item& right) const;
  void sift_down();

  const Directory* directory_;
  std::vector<PostingSource> sources_;
  std::vector<Item> heap_;
};

}  // namespace gyre::storage

// The order of postings within a term: newest first, ties by lowest id prefix, then by sequence.
#pragma once

#include <algorithm>
#include <tuple>

#include "gyre/storage/posting_index.h"

namespace gyre::storage {

// What a posting says beside its term. `list` is PostingTable's own business.
struct PostingEntry {
  std::uint64_t created_at;
  std::uint64_t id_prefix;
  Sequence sequence;
  std::uint32_t list;
};
static_assert(sizeof(PostingEntry) == 24);

template <typename Left, typename Right>
[[nodiscard]] bool is_before(const Left& left, const Right& right) {
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  if (left.id_prefix != right.id_prefix) return left.id_prefix < right.id_prefix;
  return left.sequence < right.sequence;
}

// Where a walk begins: everything that is not before `start` and not older than the range's since.
// The first place of a range is {until, 0, 0}; continuing behind a place is starting at its
// successor, which exists because sequences end before 2^32 (kSequenceMax).
[[nodiscard]] inline PostingPlace start_of(const PostingRange& range) {
  return {range.until, 0, 0};
}
[[nodiscard]] inline PostingPlace start_behind(const PostingRange& range,
                                               const PostingPlace& place) {
  if (place.created_at > range.until) return start_of(range);
  return {place.created_at, place.id_prefix, place.sequence + 1};
}

}  // namespace gyre::storage

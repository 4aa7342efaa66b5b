#include "storage/posting_block.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::storage {
namespace {

RunBlockHead load_head(const std::uint8_t* bytes) {
  RunBlockHead head;
  std::memcpy(&head, bytes, sizeof head);
  return head;
}

std::uint64_t term_bytes(const RunBlockHead& head) {
  return packed_bytes(head.term_count - 1u, head.term_bits);
}
std::uint64_t new_term_bytes(const RunBlockHead& head) {
  return head.term_count > 1 ? packed_bytes(head.posting_count, 1) : 0;
}
std::uint64_t time_bytes(const RunBlockHead& head) {
  return packed_bytes(head.posting_count, head.created_at_bits);
}
std::uint64_t sequence_bytes(const RunBlockHead& head) {
  return packed_bytes(head.posting_count, head.sequence_bits);
}

bool is_packed_width(std::uint32_t bits) { return bits <= 57 || bits == 64; }

}  // namespace

PostingBlock::PostingBlock(const std::uint8_t* bytes, Term first_term)
    : head_(load_head(bytes)),
      first_term_(first_term),
      terms_(bytes + sizeof head_, head_.term_bits),
      new_terms_(bytes + sizeof head_ + term_bytes(head_)),
      times_(new_terms_ + new_term_bytes(head_), head_.created_at_bits),
      sequences_(new_terms_ + new_term_bytes(head_) + time_bytes(head_), head_.sequence_bits) {}

bool PostingBlock::is_well_formed(ByteSpan bytes) {
  if (bytes.size() < sizeof(RunBlockHead)) return false;
  const RunBlockHead head = load_head(bytes.data());
  return head.term_count > 0 && head.term_count <= head.posting_count &&
         is_packed_width(head.term_bits) && is_packed_width(head.created_at_bits) &&
         head.sequence_bits <= 32 &&
         sizeof head + term_bytes(head) + new_term_bytes(head) + time_bytes(head) +
                 sequence_bytes(head) ==
             bytes.size();
}

PostingBlock::Slice PostingBlock::find(Term wanted) const {
  const std::uint32_t index = lower_bound(wanted);
  const std::uint32_t begin = begin_of(index);
  if (index == head_.term_count || term(index) != wanted) return {begin, begin};
  return {begin, begin_of(index + 1)};
}

// Terms are hashes and so spread evenly: of some hundred the wanted one is within a dozen places of
// where it would be if they were spread perfectly, which is two or three cache lines instead of
// the seven that halving touches.
std::uint32_t PostingBlock::lower_bound(Term wanted) const {
  constexpr std::uint32_t kNear = 16;
  std::uint32_t begin = 0;
  std::uint32_t end = head_.term_count;
  if (wanted <= first_term_) return 0;
  if (end > 2 * kNear) {
    const Term last = term(end - 1);
    if (wanted > last) return end;
    const double share =
        static_cast<double>(wanted - first_term_) / static_cast<double>(last - first_term_);
    const auto guess = static_cast<std::uint32_t>(share * (end - 1));
    const std::uint32_t near_begin = guess > kNear ? guess - kNear : 0;
    const std::uint32_t near_end = std::min(guess + kNear, end - 1);
    if (term(near_begin) >= wanted) {
      end = near_begin;
    } else if (term(near_end) < wanted) {
      begin = near_end + 1;
    } else {
      begin = near_begin;
      end = near_end;
    }
  }
  while (begin < end) {
    const std::uint32_t middle = begin + (end - begin) / 2;
    if (term(middle) < wanted) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

std::uint32_t PostingBlock::find_time(Slice slice, std::uint64_t wanted) const {
  std::uint32_t index = slice.begin;
  // Most walks begin at the newest of all.
  if (index < slice.end && created_at(index) <= wanted) return index;
  for (std::uint32_t count = slice.end - slice.begin; count > 0;) {
    const std::uint32_t half = count / 2;
    if (created_at(index + half) > wanted) {
      index += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return index;
}

std::uint32_t PostingBlock::begin_of(std::uint32_t index) const {
  if (index == 0) return 0;
  if (index >= head_.term_count) return head_.posting_count;
  if (head_.term_count == head_.posting_count) return index;
  // The place of the bit number `index` among those that are set. The load may run over the end of
  // the list: the bits that are counted end before.
  std::uint32_t left = index;
  for (std::uint32_t at = 0; at < head_.posting_count; at += 64) {
    std::uint64_t word = load_u64(new_terms_ + at / 8);
    const auto here = static_cast<std::uint32_t>(std::popcount(word));
    if (left >= here) {
      left -= here;
      continue;
    }
    for (; left > 0; --left) word &= word - 1;
    return std::min<std::uint32_t>(at + static_cast<std::uint32_t>(std::countr_zero(word)),
                                   head_.posting_count);
  }
  return head_.posting_count;
}

void PostingBlock::append_to(std::vector<RunPosting>& out) const {
  const PackedNumbers new_terms(new_terms_, 1);
  std::uint32_t term_index = 0;
  for (std::uint32_t i = 0; i < head_.posting_count; ++i) {
    if (i > 0 && head_.term_count > 1 && new_terms[i] == 1) ++term_index;
    out.push_back({term(term_index), created_at(i), sequence(i)});
  }
}

std::uint64_t PostingBlockBuilder::Extent::bytes(std::uint64_t posting_count) const {
  return sizeof(RunBlockHead) + packed_bytes(term_count - 1u, packed_bits(term_span)) +
         (term_count > 1 ? packed_bytes(posting_count, 1) : 0) +
         packed_bytes(posting_count, packed_bits(created_at_max - created_at_min)) +
         packed_bytes(posting_count, packed_bits(sequence_max - sequence_min));
}

PostingBlockBuilder::Extent PostingBlockBuilder::extent_with(const RunPosting& posting) const {
  if (postings_.empty()) {
    return {posting.created_at, posting.created_at, posting.sequence, posting.sequence, 0, 1};
  }
  const bool is_new_term = posting.term != postings_.back().term;
  return {std::min(extent_.created_at_min, posting.created_at),
          std::max(extent_.created_at_max, posting.created_at),
          std::min(extent_.sequence_min, posting.sequence),
          std::max(extent_.sequence_max, posting.sequence),
          posting.term - postings_.front().term,
          extent_.term_count + (is_new_term ? 1 : 0)};
}

// What most postings are: no number needs more bits than those before. False says nothing.
bool PostingBlockBuilder::try_add_within(const RunPosting& posting) {
  if (postings_.empty() || postings_.size() == kRunBlockPostingsMax) return false;
  const bool is_new_term = posting.term != postings_.back().term;
  if (is_new_term && packed_bits(posting.term - postings_.front().term) != term_bits_) return false;
  if (posting.created_at < extent_.created_at_min || posting.created_at > extent_.created_at_max ||
      posting.sequence < extent_.sequence_min || posting.sequence > extent_.sequence_max) {
    return false;
  }
  const std::uint64_t bits = list_bits_ + posting_bits_ + (is_new_term ? term_bits_ : 0);
  constexpr std::uint64_t kListsFilledUp = 4;
  if (sizeof(RunBlockHead) + bits / 8 + kListsFilledUp > kRunBlockBytesMax) return false;
  list_bits_ = bits;
  if (is_new_term) {
    extent_.term_span = posting.term - postings_.front().term;
    ++extent_.term_count;
  }
  postings_.push_back(posting);
  return true;
}

void PostingBlockBuilder::take(const RunPosting& posting, const Extent& extent) {
  postings_.push_back(posting);
  extent_ = extent;
  term_bits_ = packed_bits(extent.term_span);
  posting_bits_ = packed_bits(extent.created_at_max - extent.created_at_min) +
                  packed_bits(extent.sequence_max - extent.sequence_min) +
                  (extent.term_count > 1 ? 1 : 0);
  list_bits_ = postings_.size() * posting_bits_ + (extent.term_count - 1) * term_bits_;
}

bool PostingBlockBuilder::try_add(const RunPosting& posting) {
  if (try_add_within(posting)) return true;
  const Extent extent = extent_with(posting);
  if (!postings_.empty()) {
    const std::uint64_t bytes = extent.bytes(postings_.size() + 1);
    const std::uint64_t growth = bytes - extent_.bytes(postings_.size());
    // A posting far from the others makes all of them wider: beyond the price of a block it gets
    // one.
    constexpr std::uint64_t kBlockPrice = sizeof(RunBlock) + sizeof(RunBlockHead);
    if (bytes > kRunBlockBytesMax || growth > kBlockPrice ||
        postings_.size() == kRunBlockPostingsMax) {
      return false;
    }
  }
  take(posting, extent);
  return true;
}

void PostingBlockBuilder::finish(std::vector<std::uint8_t>& out) {
  GYRE_ASSERT(!is_empty());
  RunBlockHead head = {};
  head.base_created_at = extent_.created_at_min;
  head.base_sequence = extent_.sequence_min;
  head.posting_count = static_cast<std::uint16_t>(postings_.size());
  head.term_count = static_cast<std::uint16_t>(extent_.term_count);
  head.term_bits = static_cast<std::uint8_t>(packed_bits(extent_.term_span));
  head.created_at_bits =
      static_cast<std::uint8_t>(packed_bits(extent_.created_at_max - extent_.created_at_min));
  head.sequence_bits =
      static_cast<std::uint8_t>(packed_bits(extent_.sequence_max - extent_.sequence_min));
  const auto* const bytes = reinterpret_cast<const std::uint8_t*>(&head);
  out.insert(out.end(), bytes, bytes + sizeof head);

  const auto is_new_term = [this](std::size_t i) {
    return i > 0 && postings_[i].term != postings_[i - 1].term;
  };
  NumberPacker terms(head.term_bits, out);
  for (std::size_t i = 1; i < postings_.size(); ++i) {
    if (is_new_term(i)) terms.add(postings_[i].term - postings_.front().term);
  }
  terms.finish();
  if (head.term_count > 1) {
    NumberPacker new_terms(1, out);
    for (std::size_t i = 0; i < postings_.size(); ++i)
      new_terms.add(i == 0 || is_new_term(i) ? 1 : 0);
    new_terms.finish();
  }
  NumberPacker times(head.created_at_bits, out);
  for (const RunPosting& posting : postings_) times.add(posting.created_at - head.base_created_at);
  times.finish();
  NumberPacker sequences(head.sequence_bits, out);
  for (const RunPosting& posting : postings_) sequences.add(posting.sequence - head.base_sequence);
  sequences.finish();
  postings_.clear();
}

}  // namespace gyre::storage

// PostingBlock: one block of a run, seen through its packed lists. PostingBlockBuilder: makes one.
#pragma once

#include <cstdint>
#include <vector>

#include "storage/packed_numbers.h"
#include "storage/posting_run_format.h"

namespace gyre::storage {

struct RunPosting {
  Term term;
  std::uint64_t created_at;
  Sequence sequence;
};

// As cheap to make as to keep: made anew from the block's bytes where it is needed.
class PostingBlock {
 public:
  // Requires: is_well_formed().
  PostingBlock(const std::uint8_t* bytes, Term first_term);
  // Whether the lists of a block fill its bytes exactly.
  [[nodiscard]] static bool is_well_formed(ByteSpan bytes);

  [[nodiscard]] std::uint32_t posting_count() const { return head_.posting_count; }
  [[nodiscard]] std::uint64_t created_at(std::uint32_t index) const {
    return head_.base_created_at + times_[index];
  }
  [[nodiscard]] Sequence sequence(std::uint32_t index) const {
    return head_.base_sequence + static_cast<Sequence>(sequences_[index]);
  }

  // A term's postings are [begin, end); for a term that is not here, both are the place where it
  // would be.
  struct Slice {
    std::uint32_t begin;
    std::uint32_t end;
  };
  [[nodiscard]] Slice find(Term term) const;
  // The first of the slice that is not newer than `created_at`, or its end.
  [[nodiscard]] std::uint32_t find_time(Slice slice, std::uint64_t created_at) const;

  void append_to(std::vector<RunPosting>& out) const;

 private:
  [[nodiscard]] Term term(std::uint32_t index) const {
    return index == 0 ? first_term_ : first_term_ + terms_[index - 1];
  }
  // The index of the first term that is not below `wanted`.
  [[nodiscard]] std::uint32_t lower_bound(Term wanted) const;
  // Where the term with this index begins; the end of the block for the one behind the last.
  [[nodiscard]] std::uint32_t begin_of(std::uint32_t index) const;

  RunBlockHead head_;
  Term first_term_;
  PackedNumbers terms_;
  const std::uint8_t* new_terms_;
  PackedNumbers times_;
  PackedNumbers sequences_;
};

class PostingBlockBuilder {
 public:
  [[nodiscard]] bool is_empty() const { return postings_.empty(); }
  [[nodiscard]] const std::vector<RunPosting>& postings() const { return postings_; }

  // False, and nothing is changed, if the posting should rather begin a block of its own.
  // Requires: it belongs behind those that are here.
  [[nodiscard]] bool try_add(const RunPosting& posting);
  // Appends the block's bytes and begins the next.
  void finish(std::vector<std::uint8_t>& out);

 private:
  struct Extent {
    std::uint64_t created_at_min;
    std::uint64_t created_at_max;
    Sequence sequence_min;
    Sequence sequence_max;
    Term term_span;  // Last term less the first.
    std::uint32_t term_count;
    [[nodiscard]] std::uint64_t bytes(std::uint64_t posting_count) const;
  };
  [[nodiscard]] Extent extent_with(const RunPosting& posting) const;
  [[nodiscard]] bool try_add_within(const RunPosting& posting);
  void take(const RunPosting& posting, const Extent& extent);

  std::vector<RunPosting> postings_;
  Extent extent_{};
  // By the extent: of each term but the first, and of each posting.
  std::uint32_t term_bits_ = 0;
  std::uint32_t posting_bits_ = 0;
  std::uint64_t list_bits_ = 0;  // Of all lists, before each is filled up to a byte.
};

}  // namespace gyre::storage

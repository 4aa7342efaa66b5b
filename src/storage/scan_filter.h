// ScanFilter: one filter of a scan, with how it is looked up and what it may still yield.
#pragma once

#include <bitset>
#include <cstdint>
#include <span>
#include <vector>

#include "gyre/storage/query.h"
#include "storage/planner.h"

namespace gyre::storage {

class ScanFilter {
 public:
  ScanFilter(const nostr::Filter& filter, const ResultLimit& limit, ScanLimits::Beyond beyond);

  // A filter is done when it has yielded all it may, or can yield nothing.
  [[nodiscard]] bool is_done() const { return is_done_; }
  [[nodiscard]] bool is_planned() const { return is_planned_; }
  // Decides by which terms to go. Once, before the terms are opened.
  void plan(const QuerySources& sources);

  // The terms to be opened, one after the other.
  [[nodiscard]] bool has_unopened_terms() const { return opened_ < terms().size(); }
  [[nodiscard]] PostingRange next_range();
  // Those that next_range() will give.
  [[nodiscard]] std::span<const Term> unopened_terms() const {
    return std::span(terms()).subspan(opened_);
  }
  // All terms are to be opened again: the index has changed.
  void forget_opened() { opened_ = 0; }

  // Counts a candidate against the trial; true if that ended it: what is open is to be closed, and
  // the filter goes on with its other terms.
  [[nodiscard]] bool end_trial_after_candidate();

  // What the row alone says: false is certain.
  [[nodiscard]] bool may_match(const DirectoryRow& row) const;
  [[nodiscard]] bool matches(nostr::PackedEventView event) const { return filter_->matches(event); }
  // What the limit says to an event that matches; it is counted.
  enum class Admission : std::uint8_t {
    kNo,
    kWithin,
    kBeyond,  // To be yielded as the sign that there is more.
  };
  [[nodiscard]] Admission admit(std::uint64_t created_at);
  [[nodiscard]] std::uint64_t remaining() const { return limit_.remaining(); }

 private:
  [[nodiscard]] static std::size_t sketch_bit(std::uint32_t author_hash) {
    return author_hash >> (32 - kSketchBits);
  }
  [[nodiscard]] const std::vector<Term>& terms() const {
    return is_in_trial_ ? plan_.trial.terms : plan_.terms.terms;
  }

  const nostr::Filter* filter_;
  ResultLimit limit_;
  const ScanLimits::Beyond beyond_;
  bool is_done_ = false;
  std::uint64_t since_ = 0;
  std::uint64_t until_ = 0;
  ScanPlan plan_;
  std::size_t opened_ = 0;  // Of terms().
  bool is_planned_ = false;
  bool is_in_trial_ = false;
  std::vector<std::uint32_t> author_hashes_;  // Sorted; empty if every candidate has the author.
  // A bit for each value of a hash's upper bits that is among them: most strangers are told by one
  // look, where a search through a hundred goes astray seven times.
  static constexpr int kSketchBits = 11;
  std::bitset<std::size_t{1} << kSketchBits> author_sketch_;
};

}  // namespace gyre::storage

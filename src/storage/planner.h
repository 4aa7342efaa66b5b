// Planner: by which terms a filter is looked up, and what that is expected to cost.
#pragma once

#include <cstdint>

#include "absl/container/inlined_vector.h"
#include "gyre/storage/query.h"

namespace gyre::storage {

// One way to look a filter up. Its terms are made one by one, so that a sample costs no list.
class DriverOption {
 public:
  DriverOption(FilterTerms::Driver driver, const nostr::Filter& filter,
               const nostr::TagCondition* tag = nullptr);

  [[nodiscard]] FilterTerms::Driver driver() const { return driver_; }
  [[nodiscard]] char tag_letter() const { return tag_ == nullptr ? '\0' : tag_->letter; }
  [[nodiscard]] std::uint64_t term_count() const { return term_count_; }
  // Requires: index < term_count().
  [[nodiscard]] Term term(std::uint64_t index, const TermHasher& hasher) const;
  [[nodiscard]] FilterTerms terms(const TermHasher& hasher) const;

 private:
  FilterTerms::Driver driver_;
  const nostr::Filter* filter_;
  const nostr::TagCondition* tag_;
  std::uint64_t term_count_;
};

using DriverOptions = absl::InlinedVector<DriverOption, 8>;

// The sensible ways, most selective first by the filter's word alone. Never empty but for a filter
// that matches nothing.
[[nodiscard]] DriverOptions driver_options(const nostr::Filter& filter);

// How a scan goes about one filter.
//
// Where many terms have to be opened for few events (the newest fifty of a thousand authors),
// walking a broader term and throwing most of it away can be done sooner. Whether it will is a
// guess, so it is tried for as many candidates as opening the terms would cost: a wrong guess
// doubles the work, a right one saves nearly all of it.
struct ScanPlan {
  FilterTerms trial;  // kNothing: go straight to `terms`.
  std::uint64_t trial_candidates = 0;
  FilterTerms terms;
};

// `limit` is how many events the filter may yield.
[[nodiscard]] ScanPlan plan_scan(const nostr::Filter& filter, const QuerySources& sources,
                                 std::uint64_t limit);

// Both ends as the postings know them; false if no event can lie in the window.
[[nodiscard]] bool window_of(const nostr::Filter& filter, std::uint64_t& since,
                             std::uint64_t& until);

}  // namespace gyre::storage

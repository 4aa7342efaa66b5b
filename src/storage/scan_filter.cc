#include "storage/scan_filter.h"

#include <algorithm>

#include "gyre/base/assert.h"

namespace gyre::storage {
namespace {

bool implies_author(FilterTerms::Driver driver) {
  return driver == FilterTerms::Driver::kAuthor || driver == FilterTerms::Driver::kAuthorKind;
}

}  // namespace

ScanFilter::ScanFilter(const nostr::Filter& filter, const ResultLimit& limit,
                       ScanLimits::Beyond beyond)
    : filter_(&filter), limit_(limit), beyond_(beyond) {
  is_done_ = filter.matches_nothing || !window_of(filter, since_, until_) ||
             (limit.is_spent() && beyond == ScanLimits::Beyond::kNone);
}

ScanFilter::Admission ScanFilter::admit(std::uint64_t created_at) {
  if (!limit_.admits(created_at)) {
    is_done_ = true;
    return beyond_ == ScanLimits::Beyond::kOne ? Admission::kBeyond : Admission::kNo;
  }
  limit_.give(created_at);
  is_done_ = limit_.is_spent() && beyond_ == ScanLimits::Beyond::kNone;
  return Admission::kWithin;
}

void ScanFilter::plan(const QuerySources& sources) {
  GYRE_ASSERT(!is_planned_);
  is_planned_ = true;
  plan_ = plan_scan(*filter_, sources, limit_.count());
  is_in_trial_ = plan_.trial.driver != FilterTerms::Driver::kNothing;
  if (!filter_->has_authors() || (implies_author(plan_.terms.driver) && !is_in_trial_)) return;
  author_hashes_.reserve(filter_->authors.size());
  for (const Bytes32& author : filter_->authors) {
    const auto hash = static_cast<std::uint32_t>(sources.hasher.author(author));
    author_hashes_.push_back(hash);
    author_sketch_.set(sketch_bit(hash));
  }
  std::sort(author_hashes_.begin(), author_hashes_.end());
}

PostingRange ScanFilter::next_range() {
  GYRE_ASSERT(has_unopened_terms());
  return {terms()[opened_++], since_, until_};
}

bool ScanFilter::end_trial_after_candidate() {
  if (!is_in_trial_ || --plan_.trial_candidates > 0) return false;
  is_in_trial_ = false;
  opened_ = 0;
  return true;
}

bool ScanFilter::may_match(const DirectoryRow& row) const {
  const auto& kinds = filter_->kinds;
  if (!kinds.empty() && !std::binary_search(kinds.begin(), kinds.end(), row.kind)) return false;
  if (author_hashes_.empty()) return true;
  return author_sketch_[sketch_bit(row.author_hash)] &&
         std::binary_search(author_hashes_.begin(), author_hashes_.end(), row.author_hash);
}

}  // namespace gyre::storage

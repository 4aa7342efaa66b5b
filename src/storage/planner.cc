#include "storage/planner.h"

#include <algorithm>
#include <array>
#include <limits>

#include "gyre/base/assert.h"

namespace gyre::storage {
namespace {

using Driver = FilterTerms::Driver;

// Beyond this a product of two lists is not looked up pair by pair.
constexpr std::uint64_t kPairsMax = 1024;
// Terms of a list that are asked for their cardinality; the others are taken to be like them.
constexpr std::uint64_t kSampledTerms = 16;
// Opening a term costs as much as looking at so many candidates (a block is decoded: 1 us).
constexpr std::uint64_t kTermCost = 8;
// So cheap that looking for something cheaper costs more.
constexpr std::uint64_t kCheapEnough = 64;
// A trial is for long lists only.
constexpr std::uint64_t kTrialTermsMin = 32;

struct Estimate {
  std::uint64_t postings = 0;
  std::uint64_t cost = std::numeric_limits<std::uint64_t>::max();
};

std::uint64_t saturating_product(std::uint64_t left, std::uint64_t right) {
  std::uint64_t product;
  if (__builtin_mul_overflow(left, right, &product)) {
    return std::numeric_limits<std::uint64_t>::max();
  }
  return product;
}

Estimate estimate(const DriverOption& option, const nostr::Filter& filter,
                  const QuerySources& sources) {
  PostingRange range;
  if (!window_of(filter, range.since, range.until)) return {0, 0};
  const std::uint64_t count = option.term_count();
  const std::uint64_t sampled = std::min(count, kSampledTerms);
  std::uint64_t postings = 0;
  std::array<Term, kSampledTerms> terms;
  for (std::uint64_t i = 0; i < sampled; ++i) {
    // Spread over the list: lists are sorted, and neighbours may be alike.
    terms[i] = option.term(i * count / sampled, sources.hasher);
    sources.postings.prefetch_find(terms[i]);
  }
  for (std::uint64_t i = 0; i < sampled; ++i) {
    range.term = terms[i];
    postings += sources.postings.estimate(range);
  }
  postings = saturating_product(postings, count) / sampled;
  return {postings, postings + count * kTermCost};
}

const DriverOption* find_option(const DriverOptions& options, Driver driver) {
  for (const DriverOption& option : options) {
    if (option.driver() == driver) return &option;
  }
  return nullptr;
}

struct Choice {
  const DriverOption* chosen = nullptr;
  const DriverOption* trial = nullptr;
  std::uint64_t trial_candidates = 0;
};

// Tries first a walk over kinds, or over everything, if that is expected to be done sooner.
void add_trial(const DriverOptions& options, const Estimate& expected, const nostr::Filter& filter,
               const QuerySources& sources, std::uint64_t limit, Choice& choice) {
  const std::uint64_t opening_cost = choice.chosen->term_count() * kTermCost;
  if (choice.chosen->term_count() < kTrialTermsMin || expected.postings <= limit) return;
  const DriverOption* broad = find_option(options, Driver::kKind);
  if (broad == nullptr) broad = find_option(options, Driver::kAll);
  if (broad == nullptr || broad == choice.chosen || broad->term_count() >= kTrialTermsMin) return;
  const Estimate all = estimate(*broad, filter, sources);
  // If matches are spread evenly, one in (all / expected) candidates is one.
  const std::uint64_t candidates = saturating_product(limit, all.postings) / expected.postings;
  if (candidates >= opening_cost) return;
  choice.trial = broad;
  choice.trial_candidates = opening_cost;
}

// Requires: options.
Choice choose(const DriverOptions& options, const nostr::Filter& filter,
              const QuerySources& sources, std::uint64_t limit) {
  Choice choice;
  choice.chosen = &options.front();
  // Where there is but one way worth its name, nothing needs to be asked.
  const bool has_choice = options.size() > 2 || choice.chosen->term_count() >= kTrialTermsMin;
  if (!has_choice || choice.chosen->driver() == Driver::kIds) return choice;
  Estimate cheapest;
  for (const DriverOption& option : options) {
    const Estimate expected = estimate(option, filter, sources);
    if (expected.cost < cheapest.cost) {
      cheapest = expected;
      choice.chosen = &option;
    }
    if (cheapest.cost <= kCheapEnough) break;
  }
  add_trial(options, cheapest, filter, sources, limit, choice);
  return choice;
}

}  // namespace

DriverOption::DriverOption(Driver driver, const nostr::Filter& filter,
                           const nostr::TagCondition* tag)
    : driver_(driver), filter_(&filter), tag_(tag), term_count_(0) {
  switch (driver) {
    case Driver::kNothing: break;
    case Driver::kIds: term_count_ = filter.ids.size(); break;
    case Driver::kTag: term_count_ = tag->values.size(); break;
    case Driver::kTagKind: term_count_ = tag->values.size() * filter.kinds.size(); break;
    case Driver::kAuthorKind: term_count_ = filter.authors.size() * filter.kinds.size(); break;
    case Driver::kAuthor: term_count_ = filter.authors.size(); break;
    case Driver::kKind: term_count_ = filter.kinds.size(); break;
    case Driver::kAll: term_count_ = 1; break;
  }
}

Term DriverOption::term(std::uint64_t index, const TermHasher& hasher) const {
  GYRE_ASSERT_CMP(index, <, term_count_);
  const auto& kinds = filter_->kinds;
  switch (driver_) {
    case Driver::kNothing: break;
    case Driver::kIds: return hasher.id(filter_->ids[index]);
    case Driver::kTag: return hasher.tag(tag_->letter, tag_->values[index]);
    case Driver::kTagKind:
      return hasher.tag_kind(tag_->letter, tag_->values[index / kinds.size()],
                             kinds[index % kinds.size()]);
    case Driver::kAuthorKind:
      return hasher.author_kind(filter_->authors[index / kinds.size()],
                                kinds[index % kinds.size()]);
    case Driver::kAuthor: return hasher.author(filter_->authors[index]);
    case Driver::kKind: return hasher.kind(kinds[index]);
    case Driver::kAll: return hasher.all();
  }
  return hasher.all();
}

FilterTerms DriverOption::terms(const TermHasher& hasher) const {
  FilterTerms terms;
  terms.driver = driver_;
  terms.terms.reserve(term_count_);
  for (std::uint64_t i = 0; i < term_count_; ++i) terms.terms.push_back(term(i, hasher));
  return terms;
}

DriverOptions driver_options(const nostr::Filter& filter) {
  DriverOptions options;
  if (filter.matches_nothing) return options;
  if (filter.has_ids()) {
    // At most one event for each id: nothing can be more selective.
    options.emplace_back(Driver::kIds, filter);
    return options;
  }
  absl::InlinedVector<const nostr::TagCondition*, 4> tags;
  for (const nostr::TagCondition& tag : filter.tags) tags.push_back(&tag);
  std::stable_sort(tags.begin(), tags.end(),
                   [](const nostr::TagCondition* left, const nostr::TagCondition* right) {
                     return left->values.size() < right->values.size();
                   });
  for (const nostr::TagCondition* tag : tags) {
    const bool has_pairs = filter.has_kinds() && has_tag_kind_term(tag->letter) &&
                           tag->values.size() * filter.kinds.size() <= kPairsMax;
    options.emplace_back(has_pairs ? Driver::kTagKind : Driver::kTag, filter, tag);
  }
  if (filter.has_authors()) {
    if (filter.has_kinds() && filter.authors.size() * filter.kinds.size() <= kPairsMax) {
      options.emplace_back(Driver::kAuthorKind, filter);
    }
    options.emplace_back(Driver::kAuthor, filter);
  }
  if (filter.has_kinds()) options.emplace_back(Driver::kKind, filter);
  options.emplace_back(Driver::kAll, filter);
  return options;
}

ScanPlan plan_scan(const nostr::Filter& filter, const QuerySources& sources, std::uint64_t limit) {
  ScanPlan plan;
  std::uint64_t since;
  std::uint64_t until;
  const DriverOptions options = driver_options(filter);
  if (options.empty() || !window_of(filter, since, until)) return plan;
  const Choice choice = choose(options, filter, sources, limit);
  plan.terms = choice.chosen->terms(sources.hasher);
  if (choice.trial != nullptr) plan.trial = choice.trial->terms(sources.hasher);
  plan.trial_candidates = choice.trial_candidates;
  return plan;
}

FilterPlan explain_plan(const nostr::Filter& filter, const QuerySources& sources,
                        std::uint64_t limit) {
  FilterPlan plan;
  std::uint64_t since;
  std::uint64_t until;
  const DriverOptions options = driver_options(filter);
  if (options.empty() || !window_of(filter, since, until)) return plan;
  for (const DriverOption& option : options) {
    const Estimate expected = estimate(option, filter, sources);
    plan.options.push_back({option.driver(), option.tag_letter(), option.term_count(),
                            expected.postings, expected.cost});
  }
  const Choice choice = choose(options, filter, sources, limit);
  plan.chosen = static_cast<std::size_t>(choice.chosen - options.data());
  if (choice.trial != nullptr) plan.trial = static_cast<std::size_t>(choice.trial - options.data());
  plan.trial_candidates = choice.trial_candidates;
  return plan;
}

std::vector<FilterTerms> live_term_choices(const nostr::Filter& filter, const TermHasher& hasher) {
  std::vector<FilterTerms> choices;
  for (const DriverOption& option : driver_options(filter)) {
    const bool is_broad = option.driver() == Driver::kKind || option.driver() == Driver::kAll;
    if (is_broad && !choices.empty()) break;
    choices.push_back(option.terms(hasher));
  }
  return choices;
}

FilterTerms choose_stored_terms(const nostr::Filter& filter, const QuerySources& sources) {
  return plan_scan(filter, sources, std::numeric_limits<std::uint64_t>::max()).terms;
}

bool window_of(const nostr::Filter& filter, std::uint64_t& since, std::uint64_t& until) {
  if (filter.until < 0 || filter.since > filter.until) return false;
  since = static_cast<std::uint64_t>(std::max<std::int64_t>(filter.since, 0));
  // No event is younger: said so that the index sees that there is no end.
  constexpr std::int64_t kNoEnd = std::numeric_limits<std::int64_t>::max();
  until = filter.until == kNoEnd ? std::numeric_limits<std::uint64_t>::max()
                                 : static_cast<std::uint64_t>(filter.until);
  return true;
}

}  // namespace gyre::storage

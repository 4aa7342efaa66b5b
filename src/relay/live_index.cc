#include "relay/live_index.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/storage/query.h"

namespace gyre::relay {

namespace {

// Candidates that an event may look at in vain without anybody noticing: some 20 ns each.
constexpr std::size_t kShortEnough = 16;

}  // namespace

storage::FilterTerms LiveIndex::choose_terms(const nostr::Filter& filter) const {
  storage::FilterTerms chosen;
  std::size_t shortest = SIZE_MAX;
  for (storage::FilterTerms& choice : storage::live_term_choices(filter, hasher_)) {
    // What the unluckiest event would look at.
    std::size_t longest = 0;
    for (const storage::Term term : choice.terms) {
      const auto found = lists_.find(term);
      if (found != lists_.end()) longest = std::max(longest, found->second.size());
    }
    if (longest >= shortest) continue;
    shortest = longest;
    chosen = std::move(choice);
    if (shortest <= kShortEnough) break;
  }
  return chosen;
}

void LiveIndex::add(Subscription& subscription) {
  GYRE_ASSERT(subscription.postings.empty());
  const auto& filters = subscription.request->filters;
  for (std::uint32_t filter_index = 0; filter_index < filters.size(); ++filter_index) {
    const storage::FilterTerms chosen = choose_terms(filters[filter_index]);
    for (const storage::Term term : chosen.terms) {
      std::vector<Entry>& list = lists_[term];
      const auto posting_index = static_cast<std::uint32_t>(subscription.postings.size());
      subscription.postings.push_back({term, static_cast<std::uint32_t>(list.size())});
      list.push_back({&subscription, filter_index, posting_index});
    }
  }
  ++subscription_count_;
}

void LiveIndex::remove(Subscription& subscription) {
  for (const Subscription::Posting posting : subscription.postings) {
    const auto found = lists_.find(posting.term);
    GYRE_ASSERT(found != lists_.end());
    std::vector<Entry>& list = found->second;
    const Entry last = list.back();
    list[posting.position] = last;
    last.subscription->postings[last.posting_index].position = posting.position;
    list.pop_back();
    if (list.empty()) lists_.erase(found);
  }
  subscription.postings.clear();
  GYRE_ASSERT_CMP(subscription_count_, >, 0u);
  --subscription_count_;
}

void LiveIndex::collect_terms(nostr::PackedEventView event) {
  terms_.clear();
  if (lists_.empty()) return;
  storage::append_query_terms(hasher_, event, terms_);
}

}  // namespace gyre::relay

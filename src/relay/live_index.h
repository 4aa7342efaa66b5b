// LiveIndex: the subscriptions of one shard, found by the events they may match.
//
// Each filter is posted under its most selective terms; an event probes with its own terms. The
// cost of an event grows with the candidates that share a term with it, not with the number of
// subscriptions. Which terms are selective depends on the others: of those that a filter may stand
// under it takes the ones with the shortest lists, so that a hundred thousand filters on one
// hashtag, each for other authors, do not all stand under the hashtag. A candidate is confirmed
// with the same matcher that serves stored queries.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/storage/term.h"
#include "relay/session.h"

namespace gyre::relay {

class LiveIndex {
 public:
  explicit LiveIndex(const storage::TermHasher& hasher) : hasher_(hasher) {}

  void add(Subscription& subscription);
  // Requires: added and not removed since.
  void remove(Subscription& subscription);
  [[nodiscard]] std::size_t subscription_count() const { return subscription_count_; }

  // Calls `function(Subscription&)` once for every subscription with a filter that matches. The
  // function must not add or remove subscriptions.
  template <typename Function>
  void for_each_match(nostr::PackedEventView event, Function&& function) {
    ++event_number_;
    collect_terms(event);
    for (const storage::Term term : terms_) {
      const auto found = lists_.find(term);
      if (found == lists_.end()) continue;
      for (const Entry& entry : found->second) {
        Subscription& subscription = *entry.subscription;
        if (subscription.last_event_number == event_number_) continue;
        if (!subscription.request->filters[entry.filter_index].matches(event)) continue;
        subscription.last_event_number = event_number_;
        function(subscription);
      }
    }
  }

 private:
  struct Entry {
    Subscription* subscription;
    std::uint32_t filter_index;
    std::uint32_t posting_index;  // Of subscription->postings, to mend it when the entry moves.
  };

  [[nodiscard]] storage::FilterTerms choose_terms(const nostr::Filter& filter) const;
  void collect_terms(nostr::PackedEventView event);

  const storage::TermHasher& hasher_;
  absl::flat_hash_map<storage::Term, std::vector<Entry>> lists_;
  storage::TermList terms_;  // Scratch.
  std::uint64_t event_number_ = 0;
  std::size_t subscription_count_ = 0;
};

}  // namespace gyre::relay

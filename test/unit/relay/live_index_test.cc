#include "relay/live_index.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/random.h"
#include "support/event_factory.h"

namespace gyre::relay {
namespace {

using nostr::PackedEventView;
using Event = std::vector<std::uint8_t>;

constexpr char kLetters[] = {'e', 'p', 'a', 't', 'd', 'x', 'E'};
constexpr std::uint16_t kKinds[] = {0, 1, 7, 1059, 20'001, 30'023, 30'024};

class LiveIndexTest : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.next_u64() % bound; }
  [[nodiscard]] bool chance(std::uint64_t percent) { return below(100) < percent; }

  Subscription& subscribe(std::vector<nostr::Filter> filters) {
    auto request = std::make_shared<QueryRequest>();
    request->filters = std::move(filters);
    auto subscription = std::make_unique<Subscription>();
    subscription->request = std::move(request);
    subscriptions_.push_back(std::move(subscription));
    index_.add(*subscriptions_.back());
    return *subscriptions_.back();
  }
  void unsubscribe(std::size_t index) {
    index_.remove(*subscriptions_[index]);
    subscriptions_.erase(subscriptions_.begin() + static_cast<std::ptrdiff_t>(index));
  }

  std::vector<const Subscription*> matches(const Event& event) {
    std::vector<const Subscription*> found;
    index_.for_each_match(PackedEventView(event.data()), [&](const Subscription& subscription) {
      found.push_back(&subscription);
    });
    return found;
  }

  void expect_same_as_matching_all(const Event& event) {
    const std::vector<const Subscription*> found = matches(event);
    const std::set<const Subscription*> once(found.begin(), found.end());
    EXPECT_EQ(once.size(), found.size());
    for (const auto& subscription : subscriptions_) {
      const auto& filters = subscription->request->filters;
      const bool is_match = std::ranges::any_of(filters, [&](const nostr::Filter& filter) {
        return filter.matches(PackedEventView(event.data()));
      });
      EXPECT_EQ(once.contains(subscription.get()), is_match)
          << PackedEventView(event.data()).json();
    }
  }

  Event random_event() {
    test::EventDraft draft;
    draft.key_index = static_cast<std::uint32_t>(below(4));
    draft.kind = kKinds[below(std::size(kKinds))];
    draft.created_at = 1000 + below(10);
    draft.content = std::to_string(below(1000));
    for (std::uint64_t i = below(5); i > 0; --i) {
      const std::string name(1, kLetters[below(std::size(kLetters))]);
      if (chance(10)) {
        draft.tags.push_back({name});
      } else {
        draft.tags.push_back({name, random_value(), "second"});
      }
    }
    return test::pack_unsigned_event(draft);
  }

  std::string random_value() { return below(8) == 0 ? "" : std::string(1 + below(2), 'v'); }

  nostr::Filter random_filter(const std::vector<Event>& events) {
    nostr::Filter filter;
    if (chance(5)) filter.matches_nothing = true;
    if (chance(15)) {
      for (int i = 0; i < 3; ++i) {
        filter.ids.push_back(PackedEventView(events[below(events.size())].data()).id());
      }
    }
    if (chance(30)) {
      for (std::uint64_t i = 1 + below(3); i > 0; --i) {
        filter.authors.push_back(test::pubkey(static_cast<std::uint32_t>(below(5))));
      }
    }
    if (chance(40)) {
      for (std::uint64_t i = 1 + below(3); i > 0; --i) {
        filter.kinds.push_back(kKinds[below(std::size(kKinds))]);
      }
    }
    std::map<char, std::set<std::string>> tags;
    for (std::uint64_t i = chance(50) ? 1 + below(3) : 0; i > 0; --i) {
      tags[kLetters[below(std::size(kLetters))]].insert(random_value());
    }
    for (const auto& [letter, values] : tags) {
      filter.tags.push_back({letter, {values.begin(), values.end()}});
    }
    if (chance(20)) filter.since = 1000 + static_cast<std::int64_t>(below(10));
    if (chance(20)) filter.until = 1000 + static_cast<std::int64_t>(below(10));
    if (chance(20)) filter.limit = below(3);
    sort(filter.ids);
    sort(filter.authors);
    sort(filter.kinds);
    return filter;
  }

  template <typename T>
  static void sort(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  SeededRandom random_{7};
  storage::TermHasher hasher_{{1, 2, 3}};
  LiveIndex index_{hasher_};
  std::vector<std::unique_ptr<Subscription>> subscriptions_;
};

TEST_F(LiveIndexTest, AgreesWithTheMatcherWhileSubscriptionsComeAndGo) {
  std::vector<Event> events;
  for (int i = 0; i < 200; ++i) events.push_back(random_event());
  std::size_t matched = 0;
  for (int step = 0; step < 4000; ++step) {
    if (subscriptions_.size() < 40 && chance(55)) {
      std::vector<nostr::Filter> filters;
      for (std::uint64_t i = 1 + below(3); i > 0; --i) filters.push_back(random_filter(events));
      subscribe(std::move(filters));
    } else if (!subscriptions_.empty()) {
      unsubscribe(below(subscriptions_.size()));
    }
    EXPECT_EQ(index_.subscription_count(), subscriptions_.size());
    const Event& event = events[below(events.size())];
    expect_same_as_matching_all(event);
    matched += matches(event).size();
    ASSERT_FALSE(HasFailure()) << "step " << step;
  }
  EXPECT_GT(matched, 4000u);  // Else nothing was compared.
}

TEST_F(LiveIndexTest, SubscriptionThatMatchesInManyWaysIsFoundOnce) {
  nostr::Filter by_tags;
  by_tags.tags = {{'p', {"v", "vv"}}, {'t', {"v"}}};
  nostr::Filter by_kind;
  by_kind.kinds = {1};
  nostr::Filter all;
  subscribe({by_tags, by_kind, all, all});
  const Event event =
      test::pack_unsigned_event({.tags = {{"p", "v"}, {"p", "vv"}, {"t", "v"}, {"t", "v"}}});
  EXPECT_EQ(matches(event).size(), 1u);
  EXPECT_EQ(matches(event).size(), 1u);  // And again for the next event.
}

TEST_F(LiveIndexTest, AddressableEventWithoutDTagIsFoundByItsEmptyOne) {
  nostr::Filter filter;
  filter.tags = {{'d', {""}}};
  subscribe({filter});
  EXPECT_EQ(matches(test::pack_unsigned_event({.kind = 30'023})).size(), 1u);
  EXPECT_EQ(matches(test::pack_unsigned_event({.kind = 1})).size(), 0u);
}

TEST_F(LiveIndexTest, IsEmptyAgainWhenAllHaveLeft) {
  nostr::Filter nothing;
  nothing.matches_nothing = true;
  subscribe({nothing});
  for (int i = 0; i < 10; ++i) subscribe({{}, {}});
  while (!subscriptions_.empty()) unsubscribe(subscriptions_.size() / 2);
  EXPECT_EQ(index_.subscription_count(), 0u);
  EXPECT_TRUE(matches(test::pack_unsigned_event({})).empty());
}

}  // namespace
}  // namespace gyre::relay

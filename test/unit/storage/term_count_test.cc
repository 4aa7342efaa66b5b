// Counts by the index alone, against the rules done naively: whatever dies in whatever way, and
// through checkpoints, merges and restarts.
#include "storage/term_count.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/storage/naive_rules.h"

namespace gyre::storage {
namespace {

using test::EventDraft;
using test::pack_unsigned_event;
using test::pubkey_hex;

constexpr std::uint64_t kTime = 1'600'000'000;
constexpr std::uint32_t kAuthors = 4;
constexpr std::uint16_t kKinds[] = {0, 1, 7, 1059, 10'002, 30'023};

// Kind 1059 may be seen by nobody, or by some.
class GatedAccess final : public ReadAccess {
 public:
  explicit GatedAccess(bool sees_some) : sees_some_(sees_some) {}
  [[nodiscard]] bool may_read(nostr::PackedEventView event) const override {
    return event.kind() != nostr::kKindGiftWrap || (sees_some_ && event.created_at() % 2 == 0);
  }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override {
    return {&nostr::kKindGiftWrap, 1};
  }
  [[nodiscard]] bool may_read_some_restricted() const override { return sees_some_; }

 private:
  const bool sees_some_;
};

class CountingHistory {
 public:
  explicit CountingHistory(std::uint64_t seed) : harness_(StoreHarness::Disk::kSimulated, seed) {
    harness_.options.postings.table_postings_max = 100 + below(400);
    harness_.options.postings.merge_slice_postings = 1 + below(500);
    const absl::Status status = harness_.open();
    EXPECT_TRUE(status.ok()) << status;
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFailure(); ++i) {
      put(make_event());
      for (std::uint64_t n = below(3); n > 0; --n) {
        harness_.store->work();
        harness_.store->run_background_once();
      }
      if (below(20) == 0) advance_and_sweep();
      if (below(300) == 0) restart();
      if (below(10) == 0) compare();
    }
    merges += harness_.store->statistics().merges;
  }
  void expect_merges_to_cancel() {
    harness_.settle();
    EXPECT_LT(harness_.store->statistics().dead_postings, harness_.store->statistics().postings);
  }

  std::uint64_t merges = 0;
  std::uint64_t counted = 0;

 private:
  std::uint64_t below(std::uint64_t bound) { return harness_.random.next_u64() % bound; }
  std::uint32_t author() { return 1 + static_cast<std::uint32_t>(below(kAuthors)); }
  std::string some_id() { return ids_.empty() ? std::string(64, 'a') : ids_[below(ids_.size())]; }

  PackedEvent make_event() {
    const std::uint64_t roll = below(40);
    EventDraft draft = {.key_index = author(), .created_at = kTime + below(400)};
    if (roll == 0) return request(draft, 62);
    if (roll < 6) return request(draft, 5);
    draft.kind = kKinds[below(std::size(kKinds))];
    draft.content = std::to_string(below(1'000'000));
    if (draft.kind == 30'023) draft.tags.push_back({"d", std::to_string(below(3))});
    if (below(3) > 0) draft.tags.push_back({"p", pubkey_hex(author())});
    if (below(3) > 0) draft.tags.push_back({"t", std::to_string(below(3))});
    if (below(8) == 0) draft.tags.push_back({"t", std::to_string(below(3))});
    if (below(6) == 0) {
      draft.tags.push_back({"expiration", std::to_string(now_s() + 1 + below(30))});
    }
    return pack_unsigned_event(draft);
  }
  PackedEvent request(EventDraft draft, std::uint16_t kind) {
    draft.kind = kind;
    if (kind == 62) {
      draft.created_at = kTime + below(100);
      draft.tags = {{"relay", "ALL_RELAYS"}};
    } else {
      for (int i = 0; i < 3; ++i) draft.tags.push_back({"e", some_id()});
      draft.tags.push_back({"a", "30023:" + pubkey_hex(draft.key_index) + ":1"});
    }
    return pack_unsigned_event(draft);
  }
  std::uint64_t now_s() { return static_cast<std::uint64_t>(harness_.clock.unix_s()); }

  void put(const PackedEvent& event) {
    const Verdict verdict = harness_.store->put(view_of(event)).verdict;
    if (verdict != Verdict::kAccept) return;
    rules_.accept(event);
    ids_.push_back(id_of(event));
  }
  void advance_and_sweep() {
    harness_.clock.advance_s(below(20));
    compare();
    while (harness_.store->sweep_expired(1 + below(50))) {
    }
    rules_.sweep(harness_.clock.unix_s());
  }
  void restart() {
    merges += harness_.store->statistics().merges;
    while (harness_.store->acknowledged() < harness_.store->appended()) {
      harness_.store->work();
      harness_.store->run_background_once();
    }
    if (below(2) == 0) {
      EXPECT_TRUE(harness_.store->close().ok());
    }
    harness_.reopen();
    compare();
    while (harness_.store->statistics().deaths_pending > 0) harness_.store->work();
    compare();
  }

  nostr::Filter make_filter() {
    nostr::Filter filter;
    for (std::uint64_t n = below(3); n > 0; --n) filter.kinds.push_back(kKinds[below(6)]);
    for (std::uint64_t n = below(3); n > 0; --n) filter.authors.push_back(test::pubkey(author()));
    if (below(3) == 0) {
      filter.authors.clear();
      filter.tags.push_back({'t', {std::to_string(below(3))}});
    } else if (below(3) == 0) {
      filter.authors.clear();
      filter.tags.push_back({'p', {pubkey_hex(author())}});
    }
    sort_unique(filter.kinds);
    sort_unique(filter.authors);
    if (below(2) == 0) filter.since = static_cast<std::int64_t>(kTime + below(400));
    if (below(2) == 0) filter.until = static_cast<std::int64_t>(kTime + below(400));
    filter.limit = 1;  // Means nothing to a count.
    return filter;
  }
  template <typename T>
  static void sort_unique(std::vector<T>& values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
  }

  [[nodiscard]] std::uint64_t expected(const nostr::Filter& filter, const ReadAccess& access) {
    std::uint64_t count = 0;
    for (const auto& [id, event] : rules_.alive) {
      const auto expiration = view_of(event).expiration();
      const bool has_expired = expiration && *expiration <= now_s();
      const bool is_counted = filter.matches(view_of(event)) && access.may_read(view_of(event));
      count += is_counted && !has_expired ? 1 : 0;
    }
    return count;
  }

  void compare() {
    static const EverythingIsReadable everything;
    static const GatedAccess gated(false);
    static const GatedAccess party(true);
    for (const ReadAccess* access :
         {static_cast<const ReadAccess*>(&everything), static_cast<const ReadAccess*>(&gated),
          static_cast<const ReadAccess*>(&party)}) {
      const nostr::Filter filter = make_filter();
      const auto count = harness_.store->count(filter, *access, harness_.clock.unix_s());
      if (!count) continue;
      ++counted;
      ASSERT_EQ(*count, expected(filter, *access));
    }
  }

  StoreHarness harness_;
  NaiveRules rules_;
  std::vector<std::string> ids_;
};

TEST(TermCount, AgreesWithTheRulesWhateverDies) {
  std::uint64_t counted = 0;
  std::uint64_t merges = 0;
  for (std::uint64_t seed = 1; seed <= 30 && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    CountingHistory history(seed);
    history.run(700);
    history.expect_merges_to_cancel();
    counted += history.counted;
    merges += history.merges;
  }
  // Else the index never had to answer, or had nothing to cancel.
  EXPECT_GE(counted, 3000u);
  EXPECT_GE(merges, 60u);
}

class TermCountTest : public testing::Test {
 protected:
  TermCountTest() { EXPECT_TRUE(harness_.open().ok()); }
  PackedEvent put(EventDraft draft) {
    draft.created_at = kTime + number_++;
    PackedEvent event = pack_unsigned_event(draft);
    EXPECT_EQ(harness_.store->put(view_of(event)).verdict, Verdict::kAccept);
    return event;
  }
  std::optional<std::uint64_t> count(const nostr::Filter& filter, const ReadAccess& access) {
    return harness_.store->count(filter, access, harness_.clock.unix_s());
  }
  std::optional<std::uint64_t> count(const nostr::Filter& filter) {
    return count(filter, everything_);
  }

  const EverythingIsReadable everything_;
  StoreHarness harness_;
  std::uint64_t number_ = 0;
};

TEST_F(TermCountTest, SaysNothingOfWhatNoTermSays) {
  put({.key_index = 1, .kind = 1, .tags = {{"t", "a"}}});
  nostr::Filter filter;
  filter.tags = {{'t', {"a", "b"}}};
  EXPECT_EQ(count(filter), std::nullopt);
  filter.tags = {{'t', {"a"}}, {'p', {pubkey_hex(1)}}};
  EXPECT_EQ(count(filter), std::nullopt);
  filter.tags = {{'t', {"a"}}};
  EXPECT_EQ(count(filter), 1u);
  filter.authors = {test::pubkey(1)};
  EXPECT_EQ(count(filter), std::nullopt);
  filter = {};
  filter.ids = {Bytes32{}};
  EXPECT_EQ(count(filter), std::nullopt);
  filter = {};
  filter.tags = {{'r', {"a"}}};
  EXPECT_EQ(count(filter), 0u);
  filter.kinds = {1};  // r has no terms with kinds.
  EXPECT_EQ(count(filter), std::nullopt);
}

TEST_F(TermCountTest, EmptyWindowsHaveNone) {
  put({.key_index = 1});
  nostr::Filter filter;
  filter.since = 10;
  filter.until = 9;
  EXPECT_EQ(count(filter), 0u);
  filter = {};
  filter.until = -1;
  EXPECT_EQ(count(filter), 0u);
  filter = {};
  filter.matches_nothing = true;
  EXPECT_EQ(count(filter), 0u);
}

TEST_F(TermCountTest, LeavesExpiredEventsToAScanUntilTheyAreSwept) {
  put({.key_index = 1, .tags = {{"expiration", std::to_string(harness_.clock.unix_s() + 10)}}});
  put({.key_index = 1});
  EXPECT_EQ(count({}), 2u);
  harness_.clock.advance_s(10);
  EXPECT_EQ(count({}), std::nullopt);
  EXPECT_FALSE(harness_.store->sweep_expired(16));
  EXPECT_EQ(count({}), 1u);
}

TEST_F(TermCountTest, TakesOffWhatNobodyMaySeeAndScansWhatSomeMay) {
  for (int i = 0; i < 3; ++i) put({.key_index = 1, .kind = 1059, .tags = {{"p", pubkey_hex(2)}}});
  for (int i = 0; i < 2; ++i) put({.key_index = 1, .kind = 1, .tags = {{"p", pubkey_hex(2)}}});
  const GatedAccess nobody(false);
  const GatedAccess party(true);
  nostr::Filter filter;
  EXPECT_EQ(count(filter, nobody), 2u);
  EXPECT_EQ(count(filter, party), std::nullopt);
  filter.kinds = {1, 1059};
  EXPECT_EQ(count(filter, nobody), 2u);
  filter.kinds = {1};
  EXPECT_EQ(count(filter, party), 2u);
  filter.kinds = {};
  filter.tags = {{'p', {pubkey_hex(2)}}};
  EXPECT_EQ(count(filter, nobody), 2u);
  filter.tags = {{'p', {pubkey_hex(3)}}};
  EXPECT_EQ(count(filter, party), 0u);
}

TEST_F(TermCountTest, ManyDeathsAreCountedAfterAFewTurns) {
  for (int i = 0; i < 1000; ++i) {
    put({.key_index = 1});
    if (i % 8 == 0) harness_.settle();
  }
  put({.key_index = 2});
  harness_.settle();
  PackedEvent vanish = pack_unsigned_event({.key_index = 1,
                                            .created_at = kTime + 100'000,
                                            .kind = 62,
                                            .tags = {{"relay", "ALL_RELAYS"}}});
  EXPECT_EQ(harness_.store->put(view_of(vanish)).verdict, Verdict::kAccept);
  EXPECT_EQ(count({}), std::nullopt);
  EXPECT_EQ(harness_.store->statistics().deaths_pending, 1000u);
  harness_.settle();
  for (int i = 0; i < 20; ++i) harness_.store->work();
  EXPECT_EQ(count({}), 2u);
  nostr::Filter filter;
  filter.authors = {test::pubkey(1)};
  EXPECT_EQ(count(filter), 1u);
}

}  // namespace
}  // namespace gyre::storage

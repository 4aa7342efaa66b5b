#include "storage/planner.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "indexed_shard.h"

namespace gyre::storage {
namespace {

using Driver = FilterTerms::Driver;
using nostr::Filter;
using nostr::TagCondition;

std::vector<Bytes32> authors(std::uint32_t begin, std::uint32_t count) {
  std::vector<Bytes32> keys;
  for (std::uint32_t i = begin; i < begin + count; ++i) keys.push_back(test::pubkey(i));
  std::sort(keys.begin(), keys.end());
  return keys;
}

std::vector<Bytes32> made_up_authors(std::uint32_t count) {
  std::vector<Bytes32> keys(count);
  for (std::uint32_t i = 0; i < count; ++i) {
    keys[i].bytes[0] = static_cast<std::uint8_t>(i >> 8);
    keys[i].bytes[1] = static_cast<std::uint8_t>(i);
  }
  return keys;
}

FilterTerms first_live_choice(const Filter& filter, const TermHasher& hasher) {
  const std::vector<FilterTerms> choices = live_term_choices(filter, hasher);
  return choices.empty() ? FilterTerms() : choices.front();
}

TEST(LiveTermChoices, AreByKindOrNothingOnlyWhereAFilterSaysNoMore) {
  const TermHasher hasher({});
  const auto drivers = [&](const Filter& filter) {
    std::vector<Driver> found;
    for (const FilterTerms& choice : live_term_choices(filter, hasher)) {
      found.push_back(choice.driver);
    }
    return found;
  };
  Filter filter;
  EXPECT_EQ(drivers(filter), std::vector{Driver::kAll});
  filter.kinds = {1};
  EXPECT_EQ(drivers(filter), std::vector{Driver::kKind});
  filter.authors = authors(1, 1);
  EXPECT_EQ(drivers(filter), (std::vector{Driver::kAuthorKind, Driver::kAuthor}));
  filter.tags = {{'t', {"nostr"}}};
  EXPECT_EQ(drivers(filter).front(), Driver::kTagKind);
  EXPECT_EQ(drivers(filter).size(), 3u);
  filter.matches_nothing = true;
  EXPECT_TRUE(drivers(filter).empty());
}

TEST(LiveTermChoices, PrefersIdsThenTagsThenAuthorsThenKinds) {
  const TermHasher hasher({});
  Filter filter;
  EXPECT_EQ(first_live_choice(filter, hasher).driver, Driver::kAll);
  EXPECT_EQ(first_live_choice(filter, hasher).terms, std::vector<Term>{hasher.all()});

  filter.kinds = {1, 7};
  const FilterTerms by_kind = first_live_choice(filter, hasher);
  EXPECT_EQ(by_kind.driver, Driver::kKind);
  EXPECT_EQ(by_kind.terms, (std::vector<Term>{hasher.kind(1), hasher.kind(7)}));

  filter.authors = authors(0, 1);
  const FilterTerms by_pair = first_live_choice(filter, hasher);
  EXPECT_EQ(by_pair.driver, Driver::kAuthorKind);
  EXPECT_EQ(by_pair.terms, (std::vector<Term>{hasher.author_kind(filter.authors[0], 1),
                                              hasher.author_kind(filter.authors[0], 7)}));

  filter.tags = {{'r', {"x", "y"}}};
  const FilterTerms by_tag = first_live_choice(filter, hasher);
  EXPECT_EQ(by_tag.driver, Driver::kTag);
  EXPECT_EQ(by_tag.terms, (std::vector<Term>{hasher.tag('r', "x"), hasher.tag('r', "y")}));

  filter.tags.push_back({'e', {"z"}});
  const FilterTerms by_tag_kind = first_live_choice(filter, hasher);
  EXPECT_EQ(by_tag_kind.driver, Driver::kTagKind);
  EXPECT_EQ(by_tag_kind.terms,
            (std::vector<Term>{hasher.tag_kind('e', "z", 1), hasher.tag_kind('e', "z", 7)}));

  filter.ids = authors(5, 2);
  const FilterTerms by_id = first_live_choice(filter, hasher);
  EXPECT_EQ(by_id.driver, Driver::kIds);
  EXPECT_EQ(by_id.terms, (std::vector<Term>{hasher.id(filter.ids[0]), hasher.id(filter.ids[1])}));

  filter.matches_nothing = true;
  EXPECT_EQ(first_live_choice(filter, hasher).driver, Driver::kNothing);
  EXPECT_TRUE(first_live_choice(filter, hasher).terms.empty());
}

TEST(LiveTermChoices, DoesNotMultiplyLongLists) {
  const TermHasher hasher({});
  Filter filter;
  filter.authors = made_up_authors(600);
  filter.kinds = {1, 6};
  EXPECT_EQ(first_live_choice(filter, hasher).driver, Driver::kAuthor);
  EXPECT_EQ(first_live_choice(filter, hasher).terms.size(), 600u);
  filter.authors = made_up_authors(512);
  EXPECT_EQ(first_live_choice(filter, hasher).driver, Driver::kAuthorKind);
  EXPECT_EQ(first_live_choice(filter, hasher).terms.size(), 1024u);
}

// Two hundred authors with ten events each: nine of kind 1 and one of kind 7; every event names one
// of two topics, and every tenth a rare one.
class StoredTermsTest : public ::testing::Test {
 protected:
  StoredTermsTest() {
    for (std::uint32_t i = 0; i < 2000; ++i) {
      test::EventDraft draft = {.key_index = i % 200,
                                .created_at = 1'000'000 + i,
                                .kind = static_cast<std::uint16_t>(i / 200 == 9 ? 7 : 1),
                                .tags = {{"t", i % 2 == 0 ? "even" : "odd"}},
                                .content = std::to_string(i)};
      if (i % 100 == 0) draft.tags.push_back({"t", "rare"});
      shard_.put(draft);
    }
    shard_.checkpoint();
  }
  Driver chosen(const Filter& filter) {
    return choose_stored_terms(filter, shard_.sources()).driver;
  }

  IndexedShard shard_;
};

TEST_F(StoredTermsTest, GoesByWhatTheStoreHolds) {
  Filter filter;
  filter.authors = authors(3, 1);
  filter.tags = {{'t', {"odd"}}};
  EXPECT_EQ(chosen(filter), Driver::kAuthor);  // 10 events against 1000.
  filter.authors = authors(0, 200);
  filter.tags = {{'t', {"rare"}}};
  EXPECT_EQ(chosen(filter), Driver::kTag);  // 20 events against 2000.
  filter.kinds = {1};
  EXPECT_EQ(chosen(filter), Driver::kTagKind);
}

TEST_F(StoredTermsTest, LooksAtTheWindowOfTime) {
  Filter filter;
  filter.kinds = {7};
  filter.authors = authors(0, 100);
  filter.since = 1'000'000;
  filter.until = 1'000'000 + 1795;
  // All of kind 7 is younger: there is nothing to be found, and one term shows it.
  EXPECT_EQ(chosen(filter), Driver::kKind);
}

TEST_F(StoredTermsTest, KnowsFiltersThatCanFindNothing) {
  Filter filter;
  filter.matches_nothing = true;
  EXPECT_EQ(chosen(filter), Driver::kNothing);
  filter.matches_nothing = false;
  filter.until = -1;
  EXPECT_EQ(chosen(filter), Driver::kNothing);
}

TEST_F(StoredTermsTest, TriesABroadWalkWhereFewAreWantedOfMany) {
  Filter filter;
  filter.kinds = {1};
  filter.authors = authors(0, 64);
  const ScanPlan few = plan_scan(filter, shard_.sources(), 10);
  EXPECT_EQ(few.trial.driver, Driver::kKind);
  EXPECT_EQ(few.terms.driver, Driver::kAuthorKind);
  EXPECT_GT(few.trial_candidates, 0u);
  const ScanPlan all = plan_scan(filter, shard_.sources(), 100'000);
  EXPECT_EQ(all.trial.driver, Driver::kNothing);
}

TEST(WindowOf, ClampsToWhatEventsCanHave) {
  std::uint64_t since;
  std::uint64_t until;
  Filter filter;
  ASSERT_TRUE(window_of(filter, since, until));
  EXPECT_EQ(since, 0u);
  EXPECT_EQ(until, UINT64_MAX);
  filter.since = -5;
  filter.until = 0;
  ASSERT_TRUE(window_of(filter, since, until));
  EXPECT_EQ(since, 0u);
  EXPECT_EQ(until, 0u);
  filter.until = -1;
  EXPECT_FALSE(window_of(filter, since, until));
  filter.since = 10;
  filter.until = 9;
  EXPECT_FALSE(window_of(filter, since, until));
}

}  // namespace
}  // namespace gyre::storage

#include "storage/retention_sweep.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kDayS = 24 * 3600;

TEST(RetentionPolicy, TheFirstEntryThatHasAKindCountsAndRequestsAreExempt) {
  RetentionPolicy policy;
  EXPECT_TRUE(policy.is_empty());
  policy.max_age_s = 100;
  policy.kinds = {{1, 1, 10}, {0, 9, 20}, {30'000, 39'999, 0}};
  EXPECT_FALSE(policy.is_empty());
  EXPECT_EQ(policy.max_age_of(1), 10u);
  EXPECT_EQ(policy.max_age_of(0), 20u);
  EXPECT_EQ(policy.max_age_of(9), 20u);
  EXPECT_EQ(policy.max_age_of(10), 100u);
  EXPECT_EQ(policy.max_age_of(30'023), 0u);
  EXPECT_EQ(policy.max_age_of(5), 0u);
  EXPECT_EQ(policy.max_age_of(62), 0u);
}

class RetentionSweepTest : public testing::Test {
 protected:
  RetentionSweepTest() {
    harness_.options.log.segment_bytes = 16 * 1024;
    harness_.options.postings.table_postings_max = 200;
  }

  PackedEvent put(std::uint16_t kind, std::uint64_t days_old, std::uint32_t author = 1) {
    const std::uint64_t created_at = now_s() - days_old * kDayS;
    PackedEvent event = test::pack_unsigned_event(
        {.key_index = author, .created_at = created_at, .kind = kind, .content = next_content()});
    EXPECT_EQ(harness_.store->put(view_of(event)).verdict, Verdict::kAccept);
    harness_.settle();
    return event;
  }
  [[nodiscard]] std::uint64_t now_s() {
    return static_cast<std::uint64_t>(harness_.clock.unix_s());
  }
  [[nodiscard]] std::string next_content() {
    return std::to_string(count_++) + std::string(content_bytes_, 'c');
  }
  void apply(const RetentionPolicy& policy, std::size_t budget = 256) {
    for (int step = 0; harness_.store->apply_retention(policy, budget); ++step) {
      ASSERT_LT(step, 100'000);
      harness_.settle();
    }
    harness_.settle();
  }
  [[nodiscard]] std::uint64_t alive() const { return harness_.store->statistics().events_alive; }

  StoreHarness harness_;
  int count_ = 0;
  std::size_t content_bytes_ = 0;
};

TEST_F(RetentionSweepTest, WhatIsTooOldGoesAndStaysAwayAfterARestart) {
  ASSERT_TRUE(harness_.open().ok());
  const PackedEvent old = put(1, 11);
  const PackedEvent request = put(5, 400);
  const PackedEvent vanish = put(62, 400, 2);
  const PackedEvent young = put(1, 9);
  apply({.max_age_s = 10 * kDayS});
  for (int round = 0; round < 2; ++round) {
    EXPECT_FALSE(harness_.is_served(old));
    EXPECT_TRUE(harness_.is_served(request));
    EXPECT_TRUE(harness_.is_served(vanish));
    EXPECT_TRUE(harness_.is_served(young));
    EXPECT_EQ(alive(), 3u);
    harness_.reopen();
  }
  harness_.clock.advance_s(2 * kDayS);
  apply({.max_age_s = 10 * kDayS});
  EXPECT_FALSE(harness_.is_served(young));
}

TEST_F(RetentionSweepTest, TheAgeIsReachedWithTheSecondAfterIt) {
  ASSERT_TRUE(harness_.open().ok());
  const PackedEvent event = put(1, 10);
  apply({.max_age_s = 10 * kDayS});
  EXPECT_TRUE(harness_.is_served(event));
  harness_.clock.advance_s(1);
  apply({.max_age_s = 10 * kDayS});
  EXPECT_FALSE(harness_.is_served(event));
}

TEST_F(RetentionSweepTest, KindsHaveAgesOfTheirOwn) {
  for (const std::size_t budget : {1u, 2u, 3u, 256u}) {
    harness_.end();
    ASSERT_TRUE(harness_.open().ok());
    const PackedEvent note = put(1, 5);
    const PackedEvent reaction = put(7, 5);
    const PackedEvent profile = put(0, 500);
    const PackedEvent article = put(30'023, 50, 3);
    const PackedEvent list = put(30'001, 50, 4);
    const PackedEvent old_list = put(30'002, 70, 5);
    apply({.max_age_s = 10 * kDayS,
           .kinds = {{7, 7, kDayS}, {0, 0, 0}, {30'000, 30'009, 60 * kDayS}}},
          budget);
    EXPECT_TRUE(harness_.is_served(note));
    EXPECT_FALSE(harness_.is_served(reaction));
    EXPECT_TRUE(harness_.is_served(profile));
    EXPECT_FALSE(harness_.is_served(article));
    EXPECT_TRUE(harness_.is_served(list));
    EXPECT_FALSE(harness_.is_served(old_list));
    harness_.clock.advance_s(200 * kDayS);
    apply({.max_age_s = kDayS});
  }
}

TEST_F(RetentionSweepTest, AnOldEventThatComesAfterTheSweepIsFoundByTheNextOne) {
  ASSERT_TRUE(harness_.open().ok());
  const RetentionPolicy policy{.max_age_s = 10 * kDayS, .kinds = {{7, 7, kDayS}}};
  apply(policy);
  const PackedEvent note = put(1, 300);
  const PackedEvent reaction = put(7, 2);
  apply(policy);
  EXPECT_FALSE(harness_.is_served(note));
  EXPECT_FALSE(harness_.is_served(reaction));
  EXPECT_EQ(alive(), 0u);
}

TEST_F(RetentionSweepTest, EventsThatComeDuringASweepAreNotForgotten) {
  ASSERT_TRUE(harness_.open().ok());
  const RetentionPolicy policy{.max_age_s = 10 * kDayS};
  for (std::uint64_t i = 0; i < 10; ++i) put(1, 20 + i);
  ASSERT_TRUE(harness_.store->apply_retention(policy, 4));
  const PackedEvent passed = put(1, 15);
  const PackedEvent ahead = put(1, 100);
  apply(policy, 4);
  apply(policy, 4);
  EXPECT_FALSE(harness_.is_served(passed));
  EXPECT_FALSE(harness_.is_served(ahead));
}

TEST_F(RetentionSweepTest, AnotherPolicyLooksAtEverythingAgain) {
  ASSERT_TRUE(harness_.open().ok());
  const PackedEvent event = put(1, 50);
  apply({.max_age_s = 10 * kDayS, .kinds = {{1, 1, 0}}});
  EXPECT_TRUE(harness_.is_served(event));
  apply({.max_age_s = 10 * kDayS});
  EXPECT_FALSE(harness_.is_served(event));
}

TEST_F(RetentionSweepTest, AboveTheSizeTheOldestGoAndTheSpaceComesBack) {
  harness_.options.log.segment_bytes = 64 * 1024;
  harness_.options.postings.table_postings_max = 1'000;
  ASSERT_TRUE(harness_.open().ok());
  constexpr std::uint64_t kBytesMax = 2 * 1024 * 1024;
  const RetentionPolicy policy{.max_bytes = kBytesMax};
  content_bytes_ = 3'000;  // 12 MiB in all.
  std::vector<PackedEvent> events;
  const PackedEvent request = put(5, 5'000);
  for (std::uint64_t i = 0; i < 4'000; ++i) {
    events.push_back(put(1, 4'000 - i));
    if (i % 20 == 0) apply(policy);
  }
  apply(policy);
  const StoreStatistics statistics = harness_.store->statistics();
  const std::uint64_t rows = statistics.events_total * sizeof(DirectoryRow);
  EXPECT_LT(statistics.log_bytes + statistics.index_bytes - rows, kBytesMax * 6 / 5);
  EXPECT_GT(statistics.log_bytes + statistics.index_bytes - rows, kBytesMax * 4 / 5);
  EXPECT_TRUE(harness_.is_served(request));
  // What is left is the youngest, without a gap.
  bool is_kept = false;
  for (const PackedEvent& event : events) {
    const bool is_served = harness_.is_served(event);
    EXPECT_TRUE(is_served || !is_kept);
    is_kept = is_served;
  }
  EXPECT_TRUE(is_kept);
}

TEST_F(RetentionSweepTest, WithoutAPolicyNothingGoes) {
  ASSERT_TRUE(harness_.open().ok());
  put(1, 10'000);
  EXPECT_FALSE(harness_.store->apply_retention({}, 100));
  EXPECT_EQ(alive(), 1u);
}

}  // namespace
}  // namespace gyre::storage

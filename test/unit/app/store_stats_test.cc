#include "app/store_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/store_check.h"
#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::sign_event;
using testing::HasSubstr;

class StoreStatsTest : public ImportExportTest {
 protected:
  StoreStatsTest() {
    std::vector<std::string> events;
    for (std::uint32_t i = 0; i < 20; ++i) {
      events.push_back(sign_event({.key_index = i, .created_at = 1'000 + i}));
    }
    for (std::uint64_t i = 0; i < 5; ++i) {
      events.push_back(sign_event({.created_at = 2'000 + i, .kind = 0}));
    }
    (void)import(joined(events));
  }
};

TEST_F(StoreStatsTest, EventsAreCountedByKindAliveAndDead) {
  const auto stats = run_stats(import_.store_path);
  ASSERT_TRUE(stats.ok()) << stats.status().ToString();
  EXPECT_EQ(stats->shards.size(), 3u);
  const storage::ShardStatistics total = total_of(*stats);
  EXPECT_EQ(total.events.alive, 21u);
  EXPECT_EQ(total.events.dead, 4u);
  EXPECT_EQ(total.kinds.at(1).alive, 20u);
  EXPECT_EQ(total.kinds.at(0).alive, 1u);
  EXPECT_EQ(total.kinds.at(0).dead, 4u);
  EXPECT_EQ(total.oldest_created_at, 1'000u);
  EXPECT_EQ(total.newest_created_at, 2'004u);
  EXPECT_EQ(total.unindexed_records, 25u);
}

TEST_F(StoreStatsTest, AStoreInUseIsLookedAtAllTheSame) {
  const auto held = open_existing_store(import_.store_path);
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE(run_stats(import_.store_path).ok());
  EXPECT_TRUE(absl::IsNotFound(run_stats(folder_ + "/none").status()));
}

TEST_F(StoreStatsTest, TextAndJsonSayTheSame) {
  const auto stats = run_stats(import_.store_path);
  ASSERT_TRUE(stats.ok());
  const std::string text = stats_text(*stats);
  EXPECT_THAT(text, HasSubstr("       1             20              0\n"));
  EXPECT_THAT(text, HasSubstr("   total             21              4\n"));
  EXPECT_THAT(text, HasSubstr("created_at from 1970-01-01 00:16:40 to 1970-01-01 00:33:24 UTC"));
  const std::string json = stats_json(*stats);
  EXPECT_THAT(json, HasSubstr("{\"total\":{\"events_alive\":21,\"events_dead\":4,"));
  EXPECT_THAT(json, HasSubstr("\"kinds\":{\"0\":{\"alive\":1,\"dead\":4},\"1\":{\"alive\":20,"));
}

}  // namespace
}  // namespace gyre::app

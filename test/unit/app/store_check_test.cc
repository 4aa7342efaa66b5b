#include "app/store_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::sign_event;
using testing::HasSubstr;

class StoreCheckTest : public ImportExportTest {
 protected:
  StoreCheckTest() {
    std::vector<std::string> events;
    for (std::uint32_t i = 0; i < 30; ++i) events.push_back(sign_event({.key_index = i}));
    (void)import(joined(events));
  }
  CheckReport check(std::optional<std::uint32_t> shard = std::nullopt) {
    const auto checked = run_check({import_.store_path, shard, true});
    EXPECT_TRUE(checked.ok()) << checked.status().ToString();
    return checked.value_or(CheckReport());
  }
};

TEST_F(StoreCheckTest, AllShardsAreCheckedAndSummedUp) {
  const CheckReport report = check();
  EXPECT_EQ(report.shards.size(), 3u);
  EXPECT_EQ(report.finding_count(), 0u);
  EXPECT_THAT(check_text(report), HasSubstr("30 events, 30 alive, "));
  EXPECT_THAT(check_text(report), HasSubstr("nothing is wrong"));
}

TEST_F(StoreCheckTest, OneShardAloneCanBeChecked) {
  std::uint64_t events = 0;
  for (std::uint32_t shard = 0; shard < 3; ++shard) {
    const CheckReport report = check(shard);
    events += report.shards[shard].events;
    EXPECT_EQ(report.shards[(shard + 1) % 3].events, 0u);
  }
  EXPECT_EQ(events, 30u);
  EXPECT_THAT(std::string(run_check({import_.store_path, 3u, false}).status().message()),
              HasSubstr("the store has shards 0 to 2"));
}

TEST_F(StoreCheckTest, FindingsComeWithTheirCure) {
  const std::string path = import_.store_path + "/shard-001/log-00000001.seg";
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);
    file.put('!');
  }
  const std::string text = check_text(check());
  EXPECT_THAT(text, HasSubstr(path + " at offset 64: "));
  EXPECT_THAT(text, HasSubstr("    cure: `gyre check --repair` keeps every whole record"));
  EXPECT_THAT(text, HasSubstr(": 1 findings"));
}

TEST_F(StoreCheckTest, AStoreThatIsNotThereOrInUseIsNamedWithTheCure) {
  EXPECT_TRUE(absl::IsNotFound(run_check({folder_ + "/none", {}, false}).status()));
  const auto held = open_existing_store(import_.store_path);
  ASSERT_TRUE(held.ok());
  EXPECT_THAT(std::string(run_check({import_.store_path, {}, false}).status().message()),
              HasSubstr("another gyre runs on this store: stop it"));
}

}  // namespace
}  // namespace gyre::app

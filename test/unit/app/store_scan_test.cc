#include "app/store_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::sign_event;
using testing::ElementsAre;
using testing::HasSubstr;

class StoreScanTest : public ImportExportTest {
 protected:
  StoreScanTest() { import_.shards = 1; }

  std::vector<std::string> scan(ScanOptions options = {}) {
    options.store_path = import_.store_path;
    options.file = folder_ + "/scan.jsonl";
    const auto count = run_scan(options);
    EXPECT_TRUE(count.ok()) << count.status().ToString();
    std::ifstream file(options.file, std::ios::binary);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    EXPECT_EQ(count.value_or(0), lines.size());
    return lines;
  }
  std::uint64_t count(const std::vector<std::string>& filters) {
    const auto count = run_count({import_.store_path, filters});
    EXPECT_TRUE(count.ok()) << count.status().ToString();
    return count.value_or(UINT64_MAX);
  }

  const std::string old_profile_ = sign_event({.created_at = 10, .kind = 0, .content = "old"});
  const std::string late_note_ = sign_event({.key_index = 1, .created_at = 30});
  const std::string new_profile_ = sign_event({.created_at = 20, .kind = 0, .content = "new"});
  const std::string tagged_ =
      sign_event({.key_index = 2, .created_at = 5, .kind = 7, .tags = {{"t", "x"}}});
};

TEST_F(StoreScanTest, EventsComeInTheOrderOfStoring) {
  (void)import(joined({old_profile_, late_note_, new_profile_, tagged_}));
  EXPECT_THAT(scan(), ElementsAre(late_note_, new_profile_, tagged_));
  EXPECT_THAT(scan({.order = StoredOrder::kNewestStoredFirst}),
              ElementsAre(tagged_, new_profile_, late_note_));
}

TEST_F(StoreScanTest, AnyOfSeveralFiltersChooses) {
  (void)import(joined({old_profile_, late_note_, new_profile_, tagged_}));
  EXPECT_THAT(scan({.filters = {"{\"kinds\":[1]}", "{\"#t\":[\"x\"]}"}}),
              ElementsAre(late_note_, tagged_));
  EXPECT_THAT(scan({.filters = {"{\"authors\":[\"" + test::pubkey_hex(1) + "\"]}"}}),
              ElementsAre(late_note_));
  EXPECT_THAT(scan({.filters = {"{\"since\":6,\"until\":20}"}}), ElementsAre(new_profile_));
  EXPECT_THAT(scan({.filters = {"{\"kinds\":[]}"}}), testing::IsEmpty());
}

TEST_F(StoreScanTest, LimitsEndIt) {
  (void)import(joined({late_note_, new_profile_, tagged_}));
  EXPECT_THAT(scan({.limit = 2}), ElementsAre(late_note_, new_profile_));
  EXPECT_THAT(scan({.filters = {"{\"limit\":1}"}}), ElementsAre(late_note_));
  EXPECT_THAT(scan({.filters = {"{\"limit\":0}"}}), testing::IsEmpty());
}

TEST_F(StoreScanTest, DeadEventsComeWithTheirPlaceWhenTheyAreAskedFor) {
  (void)import(joined({old_profile_, late_note_, new_profile_}));
  const std::vector<std::string> lines = scan({.dead = DeadEvents::kIncluded, .shows_where = true});
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0],
            "{\"shard\":0,\"sequence\":0,\"segment\":1,\"offset\":64,\"dead\":true,\"event\":" +
                old_profile_ + "}");
  EXPECT_THAT(lines[1], HasSubstr("\"sequence\":1,"));
  EXPECT_THAT(lines[1], HasSubstr("\"dead\":false"));
}

TEST_F(StoreScanTest, CountsAreThoseOfTheEventsThatAreAlive) {
  import_.shards = 3;
  (void)import(joined({old_profile_, late_note_, new_profile_, tagged_}));
  EXPECT_EQ(count({}), 3u);
  EXPECT_EQ(count({"{\"kinds\":[0,1]}"}), 2u);
  EXPECT_EQ(count({"{\"kinds\":[0,1]}", "{\"kinds\":[1,7]}"}), 3u);
  EXPECT_EQ(count({"{\"kinds\":[4]}"}), 0u);
}

TEST_F(StoreScanTest, MistakesAreNamed) {
  (void)import(late_note_);
  const auto status_of = [this](ScanOptions options) {
    options.store_path = import_.store_path;
    return run_scan(options).status();
  };
  EXPECT_THAT(std::string(status_of({.filters = {"{}", "{\"kindz\":[1]}"}}).message()),
              HasSubstr("kindz"));
  EXPECT_TRUE(absl::IsNotFound(status_of({.file = folder_ + "/no/such/folder"})));
  EXPECT_TRUE(absl::IsNotFound(run_count({folder_ + "/none", {}}).status()));
}

}  // namespace
}  // namespace gyre::app

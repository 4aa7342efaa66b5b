#include "app/compact.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using testing::HasSubstr;

using CompactTest = ImportExportTest;

TEST_F(CompactTest, GivesBackWhatIsDeadAndKeepsWhatIsAlive) {
  std::vector<std::string> events;
  for (std::uint32_t i = 0; i < 600; ++i) {
    events.push_back(test::sign_event({.key_index = i % 60,
                                       .created_at = 1'600'000'000 + i,
                                       .kind = 10'002,
                                       .content = std::string(2'000, 'c')}));
  }
  EXPECT_EQ(import(joined(events)).added, 600u);
  const std::vector<std::string> before = export_lines();
  EXPECT_EQ(before.size(), 60u) << "so many that every shard has some";
  const auto report = run_compact({import_.store_path});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_GT(report->bytes_before, 1'000'000u);
  EXPECT_LT(report->bytes_after, report->bytes_before / 4);
  EXPECT_EQ(report->segments, 3u) << "one of each shard";
  EXPECT_EQ(report->untouched, 0u);
  EXPECT_FALSE(report->was_interrupted);
  EXPECT_EQ(export_lines(), before);

  const auto again = run_compact({import_.store_path});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->segments, 0u);
  EXPECT_EQ(import(joined(events)).added, 0u);
}

TEST_F(CompactTest, AFolderWithoutAStoreIsAnErrorThatNamesIt) {
  const auto report = run_compact({folder_});
  EXPECT_THAT(std::string(report.status().message()), HasSubstr("no store at " + folder_));
}

}  // namespace
}  // namespace gyre::app

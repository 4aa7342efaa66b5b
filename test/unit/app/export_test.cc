#include "app/export.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::sign_event;

using ExportTest = ImportExportTest;

TEST_F(ExportTest, EventsComeNewestFirstOverAllShards) {
  std::vector<std::string> events;
  for (std::uint32_t i = 0; i < 40; ++i) {
    events.push_back(sign_event({.key_index = i % 7, .created_at = 1'600'000'000 + i}));
  }
  EXPECT_EQ(import(joined(events)).added, 40u);
  std::ranges::reverse(events);
  EXPECT_EQ(export_lines(), events);
}

TEST_F(ExportTest, OfOneSecondTheLowestIdComesFirst) {
  std::vector<std::string> events;
  for (std::uint32_t i = 0; i < 20; ++i) events.push_back(sign_event({.key_index = i}));
  EXPECT_EQ(import(joined(events)).added, 20u);
  std::ranges::sort(events);  // An event begins with its id.
  EXPECT_EQ(export_lines(), events);
}

TEST_F(ExportTest, FilterAndItsLimitChoose) {
  std::vector<std::string> events;
  for (std::uint32_t i = 0; i < 12; ++i) {
    const auto kind = static_cast<std::uint16_t>(i % 2 == 0 ? 1 : 7);
    events.push_back(sign_event({.key_index = i, .created_at = 1'600'000'000 + i, .kind = kind}));
  }
  (void)import(joined(events));
  EXPECT_EQ(export_lines("{\"kinds\":[7]}").size(), 6u);
  EXPECT_EQ(export_lines("{\"kinds\":[1],\"limit\":2}"),
            (std::vector<std::string>{events[10], events[8]}));
  EXPECT_TRUE(export_lines("{\"kinds\":[9]}").empty());
}

TEST_F(ExportTest, WhatIsExportedAndImportedIsTheSame) {
  std::vector<std::string> events;
  for (std::uint32_t i = 0; i < 30; ++i) {
    events.push_back(sign_event({.key_index = i % 3,
                                 .created_at = 1'600'000'000 + i,
                                 .tags = {{"t", "é\"\\\n"}, {"p", ""}},
                                 .content = "\x01/\xe2\x80\xa8"}));
  }
  (void)import(joined(events));
  const std::vector<std::string> first = export_lines();
  EXPECT_EQ(first.size(), 30u);
  import_.store_path = folder_ + "/other";
  import_.shards = 5;
  EXPECT_EQ(import(joined(first)).added, 30u);
  EXPECT_EQ(export_lines(), first);
}

TEST_F(ExportTest, MistakesAreNamed) {
  EXPECT_TRUE(absl::IsNotFound(run_export({folder_ + "/none", "{}", ""}).status()));
  (void)import(sign_event({}));
  for (const char* const filter : {"", "[]", "{", "{\"kindz\":[1]}", "{\"limit\":-1}", "{} {}"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        run_export({import_.store_path, filter, folder_ + "/out.jsonl"}).status()))
        << filter;
  }
  EXPECT_FALSE(run_export({import_.store_path, "{}", folder_ + "/no/such/folder/x"}).ok());
}

}  // namespace
}  // namespace gyre::app

#include "app/store_delete.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/store_check.h"
#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::sign_event;
using testing::HasSubstr;

class StoreDeleteTest : public ImportExportTest {
 protected:
  StoreDeleteTest() {
    std::vector<std::string> events;
    for (std::uint32_t i = 0; i < 30; ++i) {
      const auto kind = static_cast<std::uint16_t>(i % 3 == 0 ? 7 : 1);
      events.push_back(sign_event({.key_index = i, .created_at = 1'000 + i, .kind = kind}));
    }
    (void)import(joined(events));
  }
  std::unique_ptr<StoreDeletion> open(const std::vector<std::string>& filters) {
    auto deletion = StoreDeletion::open({import_.store_path, filters, false});
    EXPECT_TRUE(deletion.ok()) << deletion.status().ToString();
    return deletion.ok() ? *std::move(deletion) : nullptr;
  }
};

TEST_F(StoreDeleteTest, OpeningOnlyLooks) {
  {
    const auto deletion = open({"{\"kinds\":[7]}"});
    EXPECT_EQ(deletion->count(), 10u);
    EXPECT_EQ(deletion->sample().size(), 5u);
    EXPECT_TRUE(deletion->close().ok());
  }
  EXPECT_EQ(export_lines().size(), 30u);
}

TEST_F(StoreDeleteTest, WhatMatchesAnyFilterIsGoneAndTheStoreIsSound) {
  {
    const auto deletion = open({"{\"kinds\":[7]}", "{\"since\":1028}"});
    EXPECT_EQ(deletion->count(), 12u);
    EXPECT_TRUE(deletion->carry_out().ok());
    EXPECT_EQ(deletion->done(), 12u);
    EXPECT_TRUE(deletion->close().ok());
  }
  EXPECT_EQ(export_lines().size(), 18u);
  EXPECT_TRUE(export_lines("{\"kinds\":[7]}").empty());
  const auto checked = run_check({import_.store_path, {}, true});
  ASSERT_TRUE(checked.ok()) << checked.status().ToString();
  EXPECT_EQ(checked->finding_count(), 0u) << check_text(*checked);
  EXPECT_EQ(open({"{\"kinds\":[7]}"})->count(), 0u);
}

TEST_F(StoreDeleteTest, AFilterThatMatchesEverythingMustBeMeant) {
  for (const std::string filter : {"{}", "{\"since\":0}", "{\"until\":99999999999}"}) {
    const auto refused = StoreDeletion::open({import_.store_path, {filter}, false});
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("--all"));
  }
  EXPECT_FALSE(StoreDeletion::open({import_.store_path, {}, true}).ok());
  const auto meant = StoreDeletion::open({import_.store_path, {"{}"}, true});
  ASSERT_TRUE(meant.ok());
  EXPECT_EQ((*meant)->count(), 30u);
}

// A limit would be one of each shard, and of the events that were stored first.
TEST_F(StoreDeleteTest, ALimitIsRefused) {
  for (const std::string filter : {"{\"limit\":5}", "{\"kinds\":[7],\"limit\":0}"}) {
    const auto refused = StoreDeletion::open({import_.store_path, {filter}, true});
    EXPECT_THAT(std::string(refused.status().message()), HasSubstr("limit"));
  }
}

}  // namespace
}  // namespace gyre::app

#include "app/store_reshard.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/store_check.h"
#include "app/store_delete.h"
#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::pubkey_hex;
using test::sign_event;
using testing::HasSubstr;

std::string id_of(const std::string& event) { return event.substr(7, 64); }

class StoreReshardTest : public ImportExportTest {
 protected:
  ReshardReport reshard(std::uint32_t shards) {
    const auto report = run_reshard({import_.store_path, shards, target_});
    EXPECT_TRUE(report.ok()) << report.status().ToString();
    return report.value_or(ReshardReport());
  }
  void use_target() { import_.store_path = target_; }
  // What becomes of an event that comes to the new store.
  std::string fate_of(const std::string& event) {
    const ImportReport report = import(event);
    if (report.added == 1) return "added";
    return report.refused.empty() ? "duplicate" : report.refused.begin()->first;
  }
  void delete_by_operator(const std::string& filter) {
    auto deletion = StoreDeletion::open({import_.store_path, {filter}, false});
    ASSERT_TRUE(deletion.ok());
    ASSERT_TRUE((*deletion)->carry_out().ok());
    ASSERT_TRUE((*deletion)->close().ok());
  }

  const std::string target_ = folder_ + "/resharded";
};

TEST_F(StoreReshardTest, TheNewStoreHasTheSameEvents) {
  std::vector<std::string> events;
  for (std::uint32_t i = 0; i < 60; ++i) {
    const auto kind = static_cast<std::uint16_t>(i % 5 == 0 ? 0 : 1);
    events.push_back(sign_event({.key_index = i % 7, .created_at = 1'000 + i, .kind = kind}));
  }
  (void)import(joined(events));
  const std::vector<std::string> before = export_lines();
  const ReshardReport report = reshard(5);
  EXPECT_EQ(report.events, before.size());
  EXPECT_EQ(report.dropped, events.size() - before.size());
  EXPECT_EQ(report.remembered, 0u);
  EXPECT_TRUE(report.refused.empty());
  EXPECT_EQ(export_lines(), before);  // The old one is as it was.
  use_target();
  EXPECT_EQ(export_lines(), before);
  const auto checked = run_check({target_, {}, true});
  ASSERT_TRUE(checked.ok());
  EXPECT_EQ(checked->shards.size(), 5u);
  EXPECT_EQ(checked->finding_count(), 0u) << check_text(*checked);
}

TEST_F(StoreReshardTest, WhatWasDeletedStaysDeleted) {
  const std::string note = sign_event({.key_index = 1, .created_at = 100});
  const std::string wrap =
      sign_event({.key_index = 9, .created_at = 100, .kind = 1059, .tags = {{"p", pubkey_hex(1)}}});
  const std::string request = sign_event({.key_index = 1,
                                          .created_at = 200,
                                          .kind = 5,
                                          .tags = {{"e", id_of(note)}, {"e", id_of(wrap)}}});
  const std::string vanished = sign_event({.key_index = 2, .created_at = 100});
  const std::string vanish = sign_event(
      {.key_index = 2, .created_at = 200, .kind = 62, .tags = {{"relay", "ALL_RELAYS"}}});
  (void)import(joined({note, wrap, request, vanished, vanish}));
  delete_by_operator("{\"kinds\":[5]}");  // The tombstones outlive the request.
  const ReshardReport report = reshard(4);
  EXPECT_EQ(report.events, 1u);
  use_target();
  EXPECT_EQ(fate_of(note), "blocked: deleted by its author");
  EXPECT_EQ(fate_of(wrap), "blocked: deleted by its author");
  EXPECT_EQ(fate_of(vanished), "blocked: its author asked to vanish");
  EXPECT_EQ(export_lines(), std::vector<std::string>{vanish});
}

TEST_F(StoreReshardTest, ADeadVersionGoesOnRefusingOlderOnes) {
  const auto profile = [](std::uint64_t created_at) {
    return sign_event({.key_index = 3, .created_at = created_at, .kind = 0});
  };
  const std::string request = sign_event(
      {.key_index = 4,
       .created_at = 300,
       .kind = 5,
       .tags = {{"e", id_of(sign_event({.key_index = 4, .created_at = 200, .kind = 0}))}}});
  (void)import(
      joined({profile(200), sign_event({.key_index = 4, .created_at = 200, .kind = 0}), request}));
  delete_by_operator("{\"authors\":[\"" + pubkey_hex(3) + "\"]}");
  const ReshardReport report = reshard(1);
  EXPECT_EQ(report.events, 1u);
  EXPECT_EQ(report.remembered, 2u);
  use_target();
  EXPECT_EQ(fate_of(profile(100)), "duplicate: a newer version is stored");
  EXPECT_EQ(fate_of(sign_event({.key_index = 4, .created_at = 100, .kind = 0})),
            "duplicate: a newer version is stored");
  EXPECT_EQ(export_lines(), std::vector<std::string>{request});
  EXPECT_EQ(fate_of(profile(300)), "added");
}

TEST_F(StoreReshardTest, TheTargetMustBeFreeAndAnUnfinishedOneIsReplaced) {
  (void)import(sign_event({}));
  EXPECT_THAT(
      std::string(run_reshard({import_.store_path, 2, import_.store_path}).status().message()),
      HasSubstr("is not empty"));
  std::filesystem::create_directory(target_ + ".unfinished");
  std::ofstream(target_ + ".unfinished/letter") << "dear";
  EXPECT_THAT(std::string(run_reshard({import_.store_path, 2, target_}).status().message()),
              HasSubstr("is in the way"));
  std::ofstream(target_ + ".unfinished/gyre-store") << "torn";
  EXPECT_EQ(reshard(2).events, 1u);
  EXPECT_FALSE(std::filesystem::exists(target_ + ".unfinished"));
}

TEST_F(StoreReshardTest, AnAttemptThatHadHardlyBegunIsReplaced) {
  (void)import(sign_event({}));
  std::filesystem::create_directories(target_ + ".unfinished/shard-000");
  std::ofstream(target_ + ".unfinished/gyre-store.tmp") << "half";
  EXPECT_EQ(reshard(2).events, 1u);
  EXPECT_FALSE(std::filesystem::exists(target_ + ".unfinished"));
}

}  // namespace
}  // namespace gyre::app

#include "app/import.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::pubkey_hex;
using test::sign_event;

using ImportTest = ImportExportTest;

std::uint64_t refused_count(const ImportReport& report) {
  std::uint64_t sum = 0;
  for (const auto& [reason, count] : report.refused) sum += count;
  return sum;
}

std::string id_of(const std::string& event) { return event.substr(7, 64); }

TEST_F(ImportTest, OddLinesAreReportedByNumberAndTheGoodOnesGoIn) {
  import_.line_bytes_max = 256 * 1024;
  const std::string first = sign_event({.key_index = 1, .content = "1"});
  const std::string third = sign_event({.key_index = 2, .content = "3"});
  std::string doubled = sign_event({.key_index = 3, .content = "a\nb"});
  doubled.insert(doubled.find("\\n"), "\\");
  const std::string large =
      sign_event({.key_index = 4, .kind = 30'023, .content = std::string(200'000, 'x')});
  const std::string last = sign_event({.key_index = 5, .content = "7"});
  const std::string text =
      first + "\n\n" + third + "\r\n" + doubled + "\n" + large + "\n" + "{\"id\":\n" + last;
  const ImportReport report = import(text);
  EXPECT_EQ(report.lines, 6u);
  EXPECT_EQ(report.added, 4u);
  EXPECT_EQ(report.duplicates, 0u);
  EXPECT_EQ(refused_count(report), 2u);
  EXPECT_THAT(reported_, testing::HasSubstr("line 4: invalid: "));
  EXPECT_THAT(reported_, testing::HasSubstr("line 6: invalid: "));
  EXPECT_THAT(reported_, testing::Not(testing::HasSubstr("line 2")));
  EXPECT_THAT(reported_, testing::Not(testing::HasSubstr(pubkey_hex(3))));
  EXPECT_EQ(export_lines().size(), 4u);

  const ImportReport again = import(text);
  EXPECT_EQ(again.added, 0u);
  EXPECT_EQ(again.duplicates, 4u);
  EXPECT_EQ(refused_count(again), 2u);
}

TEST_F(ImportTest, NothingUnverifiedComesIn) {
  std::string bad_signature = sign_event({.key_index = 1});
  char& digit = bad_signature[bad_signature.size() - 3];
  digit = digit == '0' ? '1' : '0';
  std::string bad_id = sign_event({.key_index = 1, .content = "x"});
  bad_id[10] = bad_id[10] == '0' ? '1' : '0';
  const ImportReport report = import(bad_signature + "\n" + bad_id + "\n");
  EXPECT_EQ(report.added, 0u);
  EXPECT_EQ(refused_count(report), 2u);
  EXPECT_TRUE(export_lines().empty());
}

TEST_F(ImportTest, WhatAStoreDoesNotHoldIsRefused) {
  const ImportReport report = import(joined(
      {sign_event({.kind = 20'001}), sign_event({.tags = {{"-"}}}),
       sign_event({.kind = 62, .tags = {{"relay", "wss://elsewhere.test"}}}),
       sign_event({.tags = {{"expiration", "1000"}}}), std::string(600'000, 'x'), "\xff\xfe"}));
  EXPECT_EQ(report.added, 0u);
  EXPECT_EQ(refused_count(report), 6u);
  EXPECT_EQ(report.refused.size(), 6u);  // Each for a reason of its own.
}

TEST_F(ImportTest, ProtectedEventsComeInIfTheOperatorSaysSo) {
  import_.accepts_protected = true;
  EXPECT_EQ(import(sign_event({.tags = {{"-"}}})).added, 1u);
}

TEST_F(ImportTest, DeletionsAndReplacementsHoldWhateverTheirOrder) {
  const std::string note = sign_event({.key_index = 1, .content = "note"});
  const std::string deletion =
      sign_event({.key_index = 1, .kind = 5, .tags = {{"e", id_of(note)}}});
  const std::string older = sign_event({.key_index = 2, .created_at = 1'600'000'000, .kind = 0});
  const std::string newer = sign_event({.key_index = 2, .created_at = 1'600'000'001, .kind = 0});
  std::vector<std::string> lines = {note, deletion, newer, older};
  const std::vector<std::string> kept = {deletion, newer};
  (void)import(joined(lines));
  EXPECT_THAT(export_lines(), testing::UnorderedElementsAreArray(kept));
  import_.store_path = folder_ + "/other";
  std::ranges::reverse(lines);
  (void)import(joined(lines));
  EXPECT_THAT(export_lines(), testing::UnorderedElementsAreArray(kept));
}

TEST_F(ImportTest, RequestsReachTheGiftWrapsOfOtherShards) {
  import_.shards = 8;
  import_.relay_urls = {"wss://relay.test"};
  std::vector<std::string> wraps;
  std::vector<std::string> lines;
  std::vector<std::vector<std::string>> targets;
  for (std::uint32_t key = 100; key < 130; ++key) {
    wraps.push_back(sign_event({.key_index = key,
                                .created_at = 1'600'000'000,
                                .kind = 1059,
                                .tags = {{"p", pubkey_hex(key % 2 == 0 ? 1 : 2)}}}));
    targets.push_back({"e", id_of(wraps.back())});
  }
  EXPECT_EQ(import(joined(wraps)).added, 30u);
  const std::string deletion = sign_event({.key_index = 1, .kind = 5, .tags = targets});
  const std::string vanish = sign_event({.key_index = 2,
                                         .created_at = 1'600'000'001,
                                         .kind = 62,
                                         .tags = {{"relay", "wss://relay.test"}}});
  EXPECT_EQ(import(deletion).added, 1u);
  EXPECT_EQ(export_lines("{\"kinds\":[1059]}").size(), 15u);
  EXPECT_EQ(import(vanish).added, 1u);
  EXPECT_TRUE(export_lines("{\"kinds\":[1059]}").empty());
  EXPECT_EQ(import(joined(wraps)).added, 0u);
}

TEST_F(ImportTest, MissingFileIsAnError) {
  import_.file = folder_ + "/nothing.jsonl";
  EXPECT_FALSE(run_import(import_).ok());
}

TEST_F(ImportTest, ManyLinesAllComeInOnce) {
  std::vector<std::string> lines;
  for (std::uint32_t i = 0; i < 3000; ++i) {
    lines.push_back(sign_event({.key_index = i % 20, .content = std::to_string(i % 2500)}));
  }
  std::vector<std::string> distinct = lines;
  std::ranges::sort(distinct);
  distinct.erase(std::ranges::unique(distinct).begin(), distinct.end());
  const ImportReport report = import(joined(lines));
  EXPECT_EQ(report.added, distinct.size());
  EXPECT_EQ(report.duplicates, lines.size() - distinct.size());
  std::vector<std::string> exported = export_lines();
  std::ranges::sort(exported);
  EXPECT_EQ(exported, distinct);
}

}  // namespace
}  // namespace gyre::app

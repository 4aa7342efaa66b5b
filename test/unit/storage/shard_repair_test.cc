#include "gyre/storage/shard_repair.h"

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/directory_format.h"
#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

using test::pack_unsigned_event;
using testing::HasSubstr;

// Notes, versions and a deletion over several segments and runs, and a tail behind the checkpoint.
class ShardRepairTest : public testing::Test {
 protected:
  ShardRepairTest() {
    harness_.options.postings.table_postings_max = 2'000;
    harness_.options.compaction.dead_share = 1;
    EXPECT_TRUE(harness_.open().ok());
    for (std::uint64_t i = 0; i < 200; ++i) {
      put({.key_index = 1, .created_at = 10 + i, .content = std::string(300, 'x')});
      if (i % 10 == 0) put({.key_index = 2, .created_at = 10 + i, .kind = 0});
    }
    deleted_ = pack_unsigned_event({.key_index = 3, .created_at = 5});
    EXPECT_EQ(harness_.store->put(view_of(deleted_)).verdict, Verdict::kAccept);
    harness_.settle();
    put({.key_index = 3, .created_at = 20, .kind = 5, .tags = {{"e", id_of(deleted_)}}});
    harness_.checkpoint();
    put({.key_index = 2, .created_at = 1'000, .kind = 0, .content = "behind the checkpoint"});
    close();
  }

  void put(const test::EventDraft& draft) {
    (void)harness_.store->put(view_of(pack_unsigned_event(draft)));
    harness_.settle();
  }
  void close() {
    place_ = {harness_.shard_path(), harness_.data().key(), 0};
    served_ = ids();
    EXPECT_TRUE(harness_.store->close().ok());
    harness_.end();
  }
  std::set<std::string> ids() {
    std::set<std::string> found;
    for (const PackedEvent& event : harness_.find({})) found.insert(id_of(event));
    return found;
  }

  ShardCheck check() {
    ShardCheckOptions options;
    options.advance = [](std::uint64_t) { return absl::OkStatus(); };
    const auto result = check_shard(harness_.files(), place_, options, harness_.random);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.value_or(ShardCheck());
  }
  ShardRepair repair() {
    ShardRepairOptions options;
    options.aside = "damaged-today";
    options.advance = [](std::uint64_t) { return absl::OkStatus(); };
    const auto result = repair_shard(harness_.files(), place_, options, harness_.random);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.value_or(ShardRepair());
  }
  // Opens the repaired store, lets it run and checks what it left; what was served before and is
  // not any more.
  std::vector<std::string> missing_after_repair(const ShardRepair& repaired) {
    harness_.reopen();
    for (const Sequence sequence : repaired.dead) {
      if (harness_.store->sources().directory.is_dead(sequence)) continue;
      const std::array<Sequence, 1> one = {sequence};
      EXPECT_EQ(harness_.store->retire_by_operator(one), Verdict::kAccept);
      harness_.settle();
    }
    const std::set<std::string> now = ids();
    std::vector<std::string> missing;
    std::ranges::set_difference(served_, now, std::back_inserter(missing));
    std::vector<std::string> risen;
    std::ranges::set_difference(now, served_, std::back_inserter(risen));
    risen_ = risen.size();
    EXPECT_FALSE(harness_.is_served(deleted_));
    // A repaired log is one that can be appended to.
    put({.key_index = 7, .created_at = 5'000});
    EXPECT_TRUE(harness_.store->close().ok());
    harness_.end();
    for (const Finding& finding : check().findings) ADD_FAILURE() << describe(finding);
    return missing;
  }
  // Repairs damage of one byte after the other, each `step` behind the last.
  void damage_everywhere(std::size_t step) {
    std::vector<std::pair<std::string, std::string>> originals;
    const auto listed = harness_.files().list(harness_.shard_path());
    ASSERT_TRUE(listed.ok());
    for (const std::string& name : *listed) originals.emplace_back(name, harness_.read(name));
    for (const auto& [name, content] : originals) {
      if (!name.ends_with(".seg")) continue;
      for (std::size_t offset = 3; offset < content.size(); offset += step) {
        SCOPED_TRACE(name + " at " + std::to_string(offset));
        harness_.flip(name, offset);
        if (check().finding_count > 0) {
          const ShardRepair repaired = repair();
          EXPECT_LE(missing_after_repair(repaired).size(), 1u);
          EXPECT_LE(risen_, 1u);
        }
        restore(originals);
      }
    }
  }
  void restore(const std::vector<std::pair<std::string, std::string>>& originals) {
    const auto now = harness_.files().list(harness_.shard_path());
    ASSERT_TRUE(now.ok());
    for (const std::string& file : *now) {
      if (file == "damaged-today") continue;
      ASSERT_TRUE(harness_.files().remove(harness_.shard_path(file)).ok());
    }
    for (const auto& [file, bytes] : originals) harness_.write(file, bytes);
  }
  std::string last_segment() {
    std::string last;
    const auto names = harness_.files().list(harness_.shard_path());
    EXPECT_TRUE(names.ok());
    for (const std::string& name : *names) {
      if (name.ends_with(".seg")) last = name;
    }
    return last;
  }

  StoreHarness harness_;
  PackedEvent deleted_;
  ShardPlace place_;
  std::set<std::string> served_;
  std::size_t risen_ = 0;
};

TEST_F(ShardRepairTest, DamageOfTheIndexLosesNothing) {
  for (const std::string name : {"manifest", "directory", "run-00000001"}) {
    harness_.flip(name, name == "directory" ? directory_row_offset(3) + 8 : 40);
    EXPECT_GT(check().finding_count, 0u) << name;
    const ShardRepair repaired = repair();
    EXPECT_TRUE(repaired.losses.empty());
    EXPECT_TRUE(harness_.files().exists(harness_.shard_path("damaged-today/" + name)));
    EXPECT_THAT(missing_after_repair(repaired), testing::IsEmpty());
    EXPECT_EQ(risen_, 0u);
    harness_.reopen();
    harness_.checkpoint();
    close();
    // For the next one; the names are used again.
    const auto names = harness_.files().list(harness_.shard_path("damaged-today"));
    ASSERT_TRUE(names.ok());
    for (const std::string& old : *names) {
      ASSERT_TRUE(harness_.files().remove(harness_.shard_path("damaged-today/" + old)).ok());
    }
    if (!harness_.files().exists(harness_.shard_path("run-00000001"))) break;
  }
}

TEST_F(ShardRepairTest, ALostRecordTakesNothingWithIt) {
  harness_.flip("log-00000001.seg", 5'000);
  const std::string damaged = harness_.read("log-00000001.seg");
  const ShardRepair repaired = repair();
  ASSERT_EQ(repaired.losses.size(), 1u);
  const Loss& loss = repaired.losses[0];
  EXPECT_THAT(loss.path, HasSubstr("log-00000001.seg"));
  EXPECT_EQ(loss.records, 1u);
  EXPECT_EQ(loss.rows, 1u);
  EXPECT_FALSE(loss.are_rows_assumed);
  ASSERT_EQ(loss.events.size(), 1u);
  EXPECT_EQ(harness_.read("damaged-today/log-00000001.seg"), damaged);
  const std::vector<std::string> missing = missing_after_repair(repaired);
  ASSERT_EQ(missing.size(), loss.events[0].was_alive ? 1u : 0u);
  if (missing.empty()) return;
  std::array<std::uint8_t, 32> id;
  ASSERT_TRUE(hex_decode(missing[0], id.data()));
  EXPECT_EQ(prefix64(id.data()), loss.events[0].id_prefix);
}

TEST_F(ShardRepairTest, WhereverAByteIsLostTheRestIsSaved) { damage_everywhere(7'919); }

TEST_F(ShardRepairTest, ALostSegmentBecomesAGap) {
  ASSERT_TRUE(harness_.files().remove(harness_.shard_path("log-00000001.seg")).ok());
  const ShardRepair repaired = repair();
  ASSERT_EQ(repaired.losses.size(), 1u);
  EXPECT_THAT(repaired.losses[0].what, HasSubstr("missing"));
  EXPECT_EQ(repaired.losses[0].rows, repaired.losses[0].events.size());
  const auto alive = std::ranges::count_if(repaired.losses[0].events, &Loss::Event::was_alive);
  EXPECT_EQ(missing_after_repair(repaired).size(), static_cast<std::size_t>(alive));
}

TEST_F(ShardRepairTest, ASegmentWithoutItsHeaderIsReadAllTheSame) {
  harness_.flip("log-00000001.seg", 20);
  const ShardRepair repaired = repair();
  ASSERT_EQ(repaired.losses.size(), 1u);
  EXPECT_EQ(repaired.losses[0].records, 0u);
  EXPECT_THAT(missing_after_repair(repaired), testing::IsEmpty());
}

TEST_F(ShardRepairTest, ALogThatLostItsEndGoesOn) {
  const std::string name = last_segment();
  harness_.write(name, harness_.read(name).substr(0, 200));
  ASSERT_GT(check().finding_count, 0u);
  const ShardRepair repaired = repair();
  ASSERT_FALSE(repaired.losses.empty());
  EXPECT_FALSE(repaired.losses.back().are_rows_assumed);
  EXPECT_GT(repaired.losses.back().rows, 0u);
  (void)missing_after_repair(repaired);
}

TEST_F(ShardRepairTest, ALastSegmentThatIsNoneAnyMoreIsReplaced) {
  const std::string name = last_segment();
  harness_.write(name, std::string(50, '!'));
  const ShardRepair repaired = repair();
  EXPECT_FALSE(repaired.losses.empty());
  (void)missing_after_repair(repaired);
}

TEST_F(ShardRepairTest, WithoutADirectoryLostEventsAreCountedByTheirRecords) {
  ASSERT_TRUE(harness_.files().remove(harness_.shard_path("directory")).ok());
  harness_.flip("log-00000001.seg", 5'000);
  const ShardRepair repaired = repair();
  ASSERT_EQ(repaired.losses.size(), 1u);
  EXPECT_TRUE(repaired.losses[0].are_rows_assumed);
  EXPECT_EQ(repaired.losses[0].rows, 1u);
  EXPECT_LE(missing_after_repair(repaired).size(), 1u);
}

TEST_F(ShardRepairTest, ACompactedSegmentIsRepairedToo) {
  harness_.options.compaction.gain_bytes_min = 1;
  harness_.reopen();
  harness_.store->start_compacting_all();
  for (int i = 0; i < 10'000 && harness_.store->is_compacting_all(); ++i) {
    harness_.clock.advance_s(1);
    harness_.settle();
  }
  ASSERT_FALSE(harness_.store->is_compacting_all());
  ASSERT_GT(harness_.store->statistics().compactions, 0u);
  close();
  ASSERT_EQ(check().finding_count, 0u);
  damage_everywhere(997);
}

}  // namespace
}  // namespace gyre::storage

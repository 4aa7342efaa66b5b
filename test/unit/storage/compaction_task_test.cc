// Compaction as the store does it by itself, while it goes on.
#include "storage/compaction_task.h"

#include <string>

#include <gtest/gtest.h>

#include "unit/storage/compaction_history.h"

namespace gyre::storage {
namespace {

using Operation = test::SimFileSystem::Operation;
using Fault = test::SimFileSystem::Fault;

constexpr const char* kManifest = "store/shard-000/manifest";

class CompactionTaskTest : public testing::Test {
 protected:
  CompactionTaskTest() {
    harness_.options.log.segment_bytes = 32 * 1024;
    harness_.options.postings.table_postings_max = 200;
  }

  // `count` newer versions of one address.
  void churn(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const PackedEvent event = test::pack_unsigned_event({.key_index = 1,
                                                           .created_at = 1'000 + versions_++,
                                                           .kind = 30'023,
                                                           .tags = {{"d", "x"}}});
      ASSERT_EQ(harness_.store->put(view_of(event)).verdict, Verdict::kAccept);
      newest_ = event;
      harness_.settle();
    }
  }
  [[nodiscard]] StoreStatistics statistics() const { return harness_.store->statistics(); }
  void compact_all() {
    harness_.store->start_compacting_all();
    for (int turn = 0; harness_.store->is_compacting_all(); ++turn) {
      ASSERT_LT(turn, 10'000);
      harness_.settle();
    }
  }
  void forget_index() {
    harness_.end();
    ASSERT_TRUE(harness_.disk.remove(kManifest).ok());
    ASSERT_TRUE(harness_.disk.sync_directory("store/shard-000").ok());
  }

  StoreHarness harness_;
  std::uint64_t versions_ = 0;
  PackedEvent newest_;
};

TEST_F(CompactionTaskTest, EndlessReplacementOfOneAddressLevelsOff) {
  ASSERT_TRUE(harness_.open().ok());
  churn(7'000);
  EXPECT_LT(statistics().log_bytes, 5 * harness_.options.log.segment_bytes) << "of 2 MB written";
  EXPECT_GT(statistics().compactions, 10u);
  EXPECT_EQ(statistics().events_alive, 1u);
  EXPECT_TRUE(harness_.is_served(newest_));
  harness_.reopen();
  EXPECT_TRUE(harness_.is_served(newest_));
  forget_index();
  harness_.reopen();
  EXPECT_TRUE(harness_.is_served(newest_));
  EXPECT_EQ(statistics().events_alive, 1u);
  EXPECT_EQ(statistics().events_total, versions_);
}

TEST_F(CompactionTaskTest, ASimilarStoreThatNeverCompactsAnswersTheSame) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    CompactionHistory compacting(seed);
    CompactionHistory keeping(seed);
    compacting.harness.options.compaction.dead_share = 0.01;
    ASSERT_TRUE(compacting.harness.open().ok());
    ASSERT_TRUE(keeping.harness.open().ok());
    for (int round = 0; round < 4; ++round) {
      compacting.live(250);
      keeping.live(250);
      ASSERT_TRUE(compacting.answers() == keeping.answers()) << round;
      if (round % 2 == 1) {
        compacting.harness.end();
        ASSERT_TRUE(compacting.harness.disk.remove(kManifest).ok());
      }
      compacting.harness.reopen();
      ASSERT_TRUE(compacting.answers() == keeping.answers()) << round << " opened again";
    }
  }
}

// An address that is deleted again and again leaves one mark, not one for each time.
TEST_F(CompactionTaskTest, VersionsThatWereDeletedBeforeANewerOneCameLeaveNothing) {
  ASSERT_TRUE(harness_.open().ok());
  for (int i = 0; i < 1'000; ++i) {
    const std::int64_t until = harness_.clock.unix_s() + 1;
    const PackedEvent event =
        test::pack_unsigned_event({.key_index = 1,
                                   .created_at = 1'000 + versions_++,
                                   .kind = 30'023,
                                   .tags = {{"d", "x"}, {"expiration", std::to_string(until)}},
                                   .content = std::string(500, 'c')});
    ASSERT_EQ(harness_.store->put(view_of(event)).verdict, Verdict::kAccept);
    harness_.clock.advance_s(2);
    (void)harness_.store->sweep_expired(100);
    harness_.settle();
  }
  compact_all();
  EXPECT_EQ(statistics().events_alive, 0u);
  EXPECT_LT(statistics().log_bytes, 10'000u);
  forget_index();
  harness_.reopen();
  const auto older = test::pack_unsigned_event(
      {.key_index = 1, .created_at = 1'000 + versions_ - 2, .kind = 30'023, .tags = {{"d", "x"}}});
  EXPECT_EQ(harness_.store->check(view_of(older)), Verdict::kStale);
}

TEST_F(CompactionTaskTest, AShareOfOneTurnsItOff) {
  harness_.options.compaction.dead_share = 1;
  ASSERT_TRUE(harness_.open().ok());
  churn(2'000);
  EXPECT_EQ(statistics().compactions, 0u);
}

TEST_F(CompactionTaskTest, CompactingAllLeavesNothingDead) {
  harness_.options.compaction.dead_share = 1;
  ASSERT_TRUE(harness_.open().ok());
  churn(500);
  const std::uint64_t before = statistics().log_bytes;
  compact_all();
  EXPECT_EQ(statistics().failed_compactions, 0u);
  EXPECT_LT(statistics().log_bytes, before / 50);
  EXPECT_TRUE(harness_.is_served(newest_));
  churn(3);
  ASSERT_TRUE(harness_.store->close().ok());
  harness_.reopen();
  EXPECT_TRUE(harness_.is_served(newest_));
  forget_index();
  harness_.reopen();
  EXPECT_TRUE(harness_.is_served(newest_));
  EXPECT_EQ(statistics().events_alive, 1u);
}

TEST_F(CompactionTaskTest, CompactingAllOfAnEmptyStoreEnds) {
  ASSERT_TRUE(harness_.open().ok());
  compact_all();
  EXPECT_EQ(statistics().compactions, 0u);
}

TEST_F(CompactionTaskTest, WithoutSpaceItWaitsAndTheStoreGoesOn) {
  harness_.options.compaction.dead_share = 1;
  ASSERT_TRUE(harness_.open().ok());
  // Half of each segment stays, so that compaction needs space.
  for (std::uint64_t i = 0; i < 400; ++i) {
    churn(1);
    (void)harness_.store->put(view_of(harness_.next_filler()));
    harness_.settle();
  }
  ASSERT_TRUE(harness_.store->close().ok());
  harness_.options.compaction.dead_share = 0.1;
  harness_.reopen();
  harness_.disk.set_capacity(harness_.disk.used_bytes() + 1024);
  for (int turn = 0; turn < 20; ++turn) harness_.settle();
  EXPECT_EQ(statistics().compactions, 0u);
  const std::uint64_t failures = statistics().failed_compactions;
  EXPECT_EQ(failures, 1u) << "not again at once";
  EXPECT_TRUE(harness_.is_served(newest_));
  harness_.disk.set_capacity(UINT64_MAX);
  harness_.clock.advance_s(11);
  for (int turn = 0; turn < 20; ++turn) harness_.settle();
  EXPECT_GT(statistics().compactions, 0u);
  EXPECT_EQ(statistics().failed_compactions, failures);
}

// After a crash the log is replayed from the manifest, and whoever replays a death reads the event.
TEST_F(CompactionTaskTest, NothingIsCompactedWhileTheDirectoryIsAheadOfTheManifest) {
  harness_.options.compaction.dead_share = 1;
  ASSERT_TRUE(harness_.open().ok());
  churn(400);
  harness_.options.compaction.dead_share = 0.1;
  harness_.reopen();
  // The next checkpoint gets as far as the directory.
  const std::uint64_t checkpoints = statistics().checkpoints;
  while (statistics().failed_checkpoints == 0) {
    harness_.disk.fail(Operation::kRename, 0, Fault::kIoError);
    ASSERT_EQ(statistics().checkpoints, checkpoints);
    churn(1);
  }
  const std::uint64_t compactions = statistics().compactions;
  for (int turn = 0; turn < 20; ++turn) harness_.settle();
  EXPECT_EQ(statistics().compactions, compactions);
  harness_.options.postings.table_postings_max = 10'000;
  harness_.reopen();
  for (int turn = 0; turn < 20; ++turn) harness_.settle();
  EXPECT_EQ(statistics().checkpoints, 0u);
  EXPECT_EQ(statistics().compactions, 0u);
  churn(1'500);
  EXPECT_GT(statistics().checkpoints, 0u);
  EXPECT_GT(statistics().compactions, 0u);
}

// A segment takes several slices, and a checkpoint may fail between two of them.
TEST_F(CompactionTaskTest, ASegmentHalfDoneWaitsWhileTheDirectoryIsAheadOfTheManifest) {
  harness_.options.compaction = {.dead_share = 1, .slice_bytes = 512};
  ASSERT_TRUE(harness_.open().ok());
  churn(400);
  ASSERT_TRUE(harness_.store->close().ok());
  harness_.options.compaction.dead_share = 0.1;
  harness_.reopen();
  const std::string unfinished = "store/shard-000/log-00000001.seg.tmp";
  for (int turn = 0; !harness_.disk.exists(unfinished); ++turn) {
    ASSERT_LT(turn, 1'000);
    harness_.store->work();
    (void)harness_.store->run_background_once();
  }
  while (statistics().failed_checkpoints == 0) {
    const PackedEvent event = test::pack_unsigned_event(
        {.key_index = 1, .created_at = 9'000 + versions_++, .kind = 30'023, .tags = {{"d", "x"}}});
    ASSERT_EQ(harness_.store->put(view_of(event)).verdict, Verdict::kAccept);
    newest_ = event;
    // Compaction itself has no rename to do before its last slice.
    harness_.disk.fail(Operation::kRename, 0, Fault::kIoError);
    harness_.store->work();
    (void)harness_.store->run_background_once();
    ASSERT_TRUE(harness_.disk.exists(unfinished));
  }
  const std::uint64_t compactions = statistics().compactions;
  for (int turn = 0; turn < 200; ++turn) harness_.settle();
  EXPECT_EQ(statistics().compactions, compactions);
  EXPECT_TRUE(harness_.disk.exists(unfinished));
  while (statistics().checkpoints == 0) {
    ASSERT_LT(statistics().failed_checkpoints, 3u);
    harness_.clock.advance_s(3);
    harness_.settle();
  }
  for (int turn = 0; turn < 500; ++turn) harness_.settle();
  EXPECT_GT(statistics().compactions, compactions);
  EXPECT_TRUE(harness_.is_served(newest_));
}

TEST_F(CompactionTaskTest, ADamagedSegmentIsLeftAloneAndTheStoreGoesOn) {
  harness_.options.compaction.dead_share = 1;
  ASSERT_TRUE(harness_.open().ok());
  churn(600);
  harness_.end();
  const std::string path = "store/shard-000/log-00000002.seg";
  std::vector<std::uint8_t> bad = harness_.disk.contents()[path];
  bad[bad.size() / 2] ^= 1;
  harness_.disk.overwrite(path, bad);
  harness_.options.compaction.dead_share = 0.1;
  ASSERT_TRUE(harness_.open().ok());
  for (int turn = 0; turn < 50; ++turn) harness_.settle();
  EXPECT_EQ(statistics().failed_compactions, 1u);
  EXPECT_GT(statistics().compactions, 1u);
  EXPECT_EQ(harness_.disk.contents()[path], bad);
  churn(200);
  EXPECT_TRUE(harness_.is_served(newest_));
}

// A store that compacts all it has is cut off at each operation of it in turn.
class InterruptedCompaction : public testing::TestWithParam<std::uint64_t> {
 protected:
  // True if the store came to its end before the power went.
  static bool interrupt(CompactionHistory& history, std::uint64_t operations) {
    StoreHarness& harness = history.harness;
    harness.disk.power_off_after(operations);
    harness.store->start_compacting_all();
    while (harness.store->is_compacting_all() && !harness.disk.is_powered_off()) {
      harness.store->work();
      (void)harness.store->run_background_once();
    }
    return !harness.disk.is_powered_off();
  }
  static void fail(StoreHarness& harness, std::uint64_t how) {
    harness.end();
    if (how % 2 == 0) {
      harness.disk.crash(harness.random);
    } else {
      harness.disk.kill_process();
    }
  }
  static void expect_no_stray_files(const StoreHarness& harness) {
    for (const auto& [path, content] : harness.disk.contents()) {
      EXPECT_FALSE(path.ends_with(".seg.tmp")) << path;
    }
  }
};

TEST_P(InterruptedCompaction, LosesNothingAndLeavesNothingLyingAround) {
  bool has_ended = false;
  std::uint64_t points = 0;
  for (; !has_ended; ++points) {
    SCOPED_TRACE(testing::Message() << "operation " << points);
    CompactionHistory history(GetParam());
    StoreHarness& harness = history.harness;
    harness.options.compaction.slice_bytes = 600;
    ASSERT_TRUE(harness.open().ok());
    history.live(60);
    const CompactionHistory::Answers before = history.answers();
    has_ended = interrupt(history, points);
    fail(harness, GetParam() + points);
    harness.reopen();
    expect_no_stray_files(harness);
    ASSERT_TRUE(history.answers() == before) << "by the index";
    const auto recovered = harness.disk.contents();
    harness.reopen();
    ASSERT_EQ(harness.disk.contents(), recovered) << "recovering twice is once";
    ASSERT_TRUE(interrupt(history, UINT32_MAX)) << "another one goes on";
    ASSERT_EQ(harness.store->statistics().failed_compactions, 0u);
    ASSERT_TRUE(history.answers() == before) << "after the rest of it";
    harness.end();
    ASSERT_TRUE(harness.disk.remove(kManifest).ok());
    harness.reopen();
    ASSERT_TRUE(history.answers() == before) << "by the log alone";
  }
  EXPECT_GT(points, 30u) << "else there was little to compact";
}

INSTANTIATE_TEST_SUITE_P(Histories, InterruptedCompaction, testing::Range<std::uint64_t>(20, 26));

}  // namespace
}  // namespace gyre::storage

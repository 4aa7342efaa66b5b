// Merges as a store does them: beside checkpoints, on disks that fail.
#include "storage/merge_task.h"

#include <set>
#include <string>

#include <gtest/gtest.h>

#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

using Operation = test::SimFileSystem::Operation;
using Fault = test::SimFileSystem::Fault;

class MergeTaskTest : public testing::Test {
 protected:
  MergeTaskTest() {
    harness_.options.postings.table_postings_max = 64;
    harness_.options.postings.merge_slice_postings = 50;
    const absl::Status status = harness_.open();
    EXPECT_TRUE(status.ok()) << status;
  }

  [[nodiscard]] StoreStatistics statistics() const { return harness_.store->statistics(); }
  // Puts events until so many checkpoints are done.
  void checkpoints(std::uint64_t count) {
    const std::uint64_t wanted = statistics().checkpoints + count;
    for (int i = 0; statistics().checkpoints < wanted; ++i) {
      ASSERT_LT(i, 10'000);
      ASSERT_EQ(harness_.store->put(view_of(harness_.next_filler())).verdict, Verdict::kAccept);
      ++put_;
      harness_.store->work();
      harness_.store->run_background_once();
    }
  }
  void settle() {
    while (true) {
      harness_.store->work();
      if (!harness_.store->run_background_once()) return;
    }
  }
  void expect_everything() {
    EXPECT_EQ(harness_.find({}).size(), put_);
    EXPECT_EQ(statistics().events_total, put_);
  }
  [[nodiscard]] std::set<std::string> run_files() const {
    std::set<std::string> names;
    for (const auto& [path, content] : harness_.disk.contents()) {
      const std::size_t at = path.find("run-");
      if (at != std::string::npos) names.insert(path.substr(at));
    }
    return names;
  }

  StoreHarness harness_;
  std::uint64_t put_ = 0;
};

TEST_F(MergeTaskTest, KeepsRunsFewAndLeavesNoFileBehind) {
  checkpoints(60);
  settle();
  EXPECT_GE(statistics().merges, 7u);
  EXPECT_GE(statistics().merged_postings, 60u * 64);
  EXPECT_LE(statistics().runs, 16u);
  EXPECT_EQ(run_files().size(), statistics().runs);
  expect_everything();
  harness_.reopen();
  EXPECT_EQ(run_files().size(), statistics().runs);
  expect_everything();
}

TEST_F(MergeTaskTest, CheckpointsGoOnWhileALongMergeIsUnderWay) {
  harness_.options.postings.merge_slice_postings = 1;
  harness_.reopen();
  checkpoints(8);
  // A slice takes a turn, as does the rest of the work: the merge of 512 postings outlasts these.
  checkpoints(8);
  EXPECT_EQ(statistics().merges, 0u);
  settle();
  EXPECT_GE(statistics().merges, 1u);
  expect_everything();
}

TEST_F(MergeTaskTest, AMergeThatFailsIsTriedAgainLaterAndStopsNothing) {
  harness_.options.postings.merge_slice_postings = 8;
  harness_.reopen();
  for (const Operation operation : {Operation::kCreate, Operation::kWrite, Operation::kSync,
                                    Operation::kRename, Operation::kSyncDirectory}) {
    const std::uint64_t failed_before = statistics().failed_merges;
    for (std::uint64_t skipped = 0; skipped < 4; ++skipped) {
      // Until a merge is under way and the log is at rest, so that the fault is the merge's.
      checkpoints(8);
      for (int i = 0; i < 8; ++i) {
        harness_.store->work();
        harness_.store->run_background_once();
      }
      harness_.disk.fail(operation, skipped, Fault::kIoError);
      settle();
      harness_.disk.kill_process();  // Forgets a fault that did not come to pass.
      checkpoints(1);
      harness_.clock.advance_s(700);
      settle();
      expect_everything();
      EXPECT_EQ(run_files().size(), statistics().runs);
    }
    EXPECT_GT(statistics().failed_merges, failed_before);
  }
  EXPECT_GE(statistics().merges, 20u);
  EXPECT_EQ(statistics().failed_checkpoints, 0u);
  harness_.reopen();
  expect_everything();
}

TEST_F(MergeTaskTest, AnInputThatIsDamagedCostsTheMergeAlone) {
  checkpoints(7);
  settle();
  const std::string damaged = "store/shard-000/" + *run_files().begin();
  std::vector<std::uint8_t> content = harness_.disk.contents().at(damaged);
  const std::vector<std::uint8_t> sound = content;
  content[100] ^= 1;
  harness_.disk.overwrite(damaged, content);
  checkpoints(3);
  settle();
  EXPECT_EQ(statistics().merges, 0u);
  EXPECT_EQ(statistics().failed_merges, 1u);
  checkpoints(3);
  EXPECT_EQ(statistics().failed_merges, 1u);  // Not before a while has passed.
  harness_.disk.overwrite(damaged, sound);
  harness_.clock.advance_s(700);
  settle();
  EXPECT_EQ(statistics().merges, 1u);
  expect_everything();
}

TEST_F(MergeTaskTest, LeavesTheLastSpaceOfADiskToTheLog) {
  checkpoints(7);
  settle();
  harness_.disk.set_capacity(harness_.disk.used_bytes() + 32 * 1024 * 1024);
  checkpoints(2);
  settle();
  EXPECT_EQ(statistics().merges, 0u);
  EXPECT_EQ(statistics().failed_merges, 1u);
  EXPECT_EQ(statistics().failed_checkpoints, 0u);
  harness_.disk.set_capacity(UINT64_MAX);
  harness_.clock.advance_s(700);
  settle();
  EXPECT_EQ(statistics().merges, 1u);
  expect_everything();
}

TEST_F(MergeTaskTest, ClosingGivesUpAMergeUnderWay) {
  harness_.options.postings.merge_slice_postings = 1;
  harness_.reopen();
  checkpoints(10);
  EXPECT_TRUE(harness_.store->close().ok());
  EXPECT_EQ(run_files().size(), statistics().runs);
  harness_.options.postings.merge_slice_postings = 50;
  harness_.reopen();
  expect_everything();
  settle();
  EXPECT_EQ(statistics().merges, 1u);
}

}  // namespace
}  // namespace gyre::storage

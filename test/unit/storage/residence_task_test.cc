#include "storage/residence_task.h"

#include <gtest/gtest.h>

#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

TEST(ResidenceTask, BringsTheWholeIndexOfAStartIntoMemoryOnce) {
  StoreHarness harness;
  harness.options.postings.table_postings_max = 64;
  ASSERT_TRUE(harness.open().ok());
  for (int i = 0; i < 3; ++i) harness.checkpoint();
  const std::vector<std::string> run_names = {"run-00000001", "run-00000002", "run-00000003"};
  const Sequence rows = static_cast<Sequence>(harness.store->statistics().events_total);
  harness.end();

  const std::string folder = "store/shard-000";
  auto directory = Directory::open(harness.disk, folder + "/directory", rows - 1);
  ASSERT_TRUE(directory.ok());
  auto postings = PostingIndex::open(harness.disk, folder, run_names, **directory, {});
  auto dead_postings = PostingIndex::open(harness.disk, folder, {}, **directory, {});
  ASSERT_TRUE(postings.ok());
  ResidenceTask task(folder, **directory, **postings, **dead_postings);
  int jobs = 0;
  for (; task.prepare(); ++jobs) {
    const absl::Status status = task.run();
    ASSERT_TRUE(status.ok());
    task.finish(status);
  }
  EXPECT_EQ(jobs, 1);  // Far below a slice.
  EXPECT_EQ(task.residence().bytes,
            (*postings)->bytes_on_disk() + 4096 + (rows - 1) * sizeof(DirectoryRow));
  EXPECT_EQ(task.residence().unlocked_bytes, 0u);
}

}  // namespace
}  // namespace gyre::storage

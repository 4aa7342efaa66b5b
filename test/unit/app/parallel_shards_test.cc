#include "app/parallel_shards.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>

namespace gyre::app {
namespace {

TEST(ParallelShards, DoesEachShardOnceHoweverFastTheWorkIs) {
  // Work that takes no time ends while other threads are still being started.
  for (int round = 0; round < 500; ++round) {
    SharedProgress progress;
    std::array<std::atomic<int>, 7> calls{};
    ASSERT_TRUE(for_each_shard(calls.size(), "shards", 0, progress, [&](ShardId shard) {
                  ++calls[shard];
                  return absl::OkStatus();
                }).ok());
    for (const auto& count : calls) ASSERT_EQ(count, 1);
  }
}

TEST(ParallelShards, ReturnsTheErrorOfTheLowestShardAndDoesTheRest) {
  SharedProgress progress;
  std::atomic<int> calls{0};
  const absl::Status status = for_each_shard(5, "shards", 0, progress, [&](ShardId shard) {
    ++calls;
    if (shard == 3) return absl::DataLossError("three");
    if (shard == 1) return absl::InternalError("one");
    return absl::OkStatus();
  });
  EXPECT_EQ(status, absl::InternalError("one"));
  EXPECT_EQ(calls, 5);
}

}  // namespace
}  // namespace gyre::app

#include "storage/run_merger.h"

#include <numeric>

#include <gtest/gtest.h>

namespace gyre::storage {
namespace {

constexpr std::uint64_t kTable = 1'000'000;

std::vector<std::size_t> chosen(const std::vector<std::uint64_t>& counts) {
  return choose_runs_to_merge(counts, kTable, 8);
}

TEST(ChooseRunsToMerge, WaitsForEightTables) {
  EXPECT_TRUE(chosen({}).empty());
  EXPECT_TRUE(chosen(std::vector<std::uint64_t>(7, kTable)).empty());
  // What a shutdown leaves counts as a table.
  EXPECT_EQ(chosen({kTable, 10, kTable, 0, kTable, kTable, kTable, 2 * kTable}),
            (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7}));
  // So does a table that had to wait for its checkpoint.
  EXPECT_TRUE(chosen({8 * kTable, 8 * kTable, 8 * kTable, 3 * kTable}).empty());
}

TEST(ChooseRunsToMerge, WaitsForFourLargerOnesOfAboutTheSameSize) {
  EXPECT_TRUE(chosen({5 * kTable, 5 * kTable, 5 * kTable}).empty());
  EXPECT_TRUE(chosen({5 * kTable, 5 * kTable, 5 * kTable, 20 * kTable}).empty());
  EXPECT_EQ(chosen({8 * kTable, kTable, 8 * kTable + 1, 5 * kTable, 8 * kTable - 1}),
            (std::vector<std::size_t>{0, 2, 3, 4}));
}

TEST(ChooseRunsToMerge, BeginsWithTheSmallest) {
  EXPECT_EQ(chosen({8 * kTable, 8 * kTable, 8 * kTable, 8 * kTable, 1, 1, 1, 1, 1, 1, 1, 1}),
            (std::vector<std::size_t>{4, 5, 6, 7, 8, 9, 10, 11}));
}

TEST(ChooseRunsToMerge, TakesAtMostEight) {
  EXPECT_EQ(chosen(std::vector<std::uint64_t>(20, kTable)).size(), 8u);
}

TEST(ChooseRunsToMerge, KeepsAStoreInFewRunsAndRewritesSeldom) {
  std::vector<std::uint64_t> runs;
  std::uint64_t rewritten = 0;
  constexpr std::uint64_t kTables = 300;
  for (std::uint64_t i = 0; i < kTables; ++i) {
    runs.push_back(kTable);
    for (;;) {
      const std::vector<std::size_t> inputs = chosen(runs);
      if (inputs.empty()) break;
      std::uint64_t sum = 0;
      for (auto input = inputs.rbegin(); input != inputs.rend(); ++input) {
        sum += runs[*input];
        runs.erase(runs.begin() + static_cast<std::ptrdiff_t>(*input));
      }
      EXPECT_LE(sum, 256 * kTable);
      rewritten += sum;
      runs.push_back(sum);
    }
    ASSERT_LE(runs.size(), 20u);
  }
  EXPECT_EQ(std::accumulate(runs.begin(), runs.end(), std::uint64_t{0}), kTables * kTable);
  EXPECT_LE(rewritten, 3 * kTables * kTable);
}

}  // namespace
}  // namespace gyre::storage

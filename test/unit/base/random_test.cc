#include "gyre/base/random.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <vector>

namespace gyre {
namespace {

TEST(SeededRandom, TheSameSeedReplaysTheSameRun) {
  SeededRandom a(42);
  SeededRandom b(42);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(a.next_u64(), b.next_u64());
}

TEST(SeededRandom, NeighbouringSeedsHaveNothingInCommon) {
  SeededRandom a(1);
  SeededRandom b(2);
  for (int i = 0; i < 100; ++i) EXPECT_NE(a.next_u64(), b.next_u64());
}

// splitmix64 of seed 0 gives e220a8397b1dcdaf, 6e789e6aa1b965f4, 06c45d188009454f,
// f88bb8a8724c81ec (its reference output); xoshiro256** then takes rotl(second * 5, 7) * 9.
TEST(SeededRandom, FollowsItsPublishedAlgorithm) {
  SeededRandom random(0);
  EXPECT_EQ(random.next_u64(), std::rotl(0x6e789e6aa1b965f4u * 5, 7) * 9);
}

TEST(SeededRandom, SeedZeroIsNoDegenerateState) {
  SeededRandom random(0);
  std::uint64_t seen = 0;
  for (int i = 0; i < 64; ++i) seen |= random.next_u64();
  EXPECT_EQ(seen, ~std::uint64_t{0});
}

TEST(SeededRandom, FillsEveryLengthAndNothingBehind) {
  for (std::size_t size = 0; size <= 33; ++size) {
    std::vector<std::uint8_t> changed(size, 0);
    SeededRandom random(7);
    // Any byte stays zero in 64 fills with a chance of 2^-512.
    for (int round = 0; round < 64; ++round) {
      std::array<std::uint8_t, 40> bytes{};
      random.fill(std::span(bytes).first(size));
      for (std::size_t i = 0; i < size; ++i) changed[i] |= bytes[i];
      for (std::size_t i = size; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], 0);
    }
    for (std::size_t i = 0; i < size; ++i) EXPECT_NE(changed[i], 0) << size << " " << i;
  }
}

TEST(SystemRandom, FillsMoreThanOneCallOfTheKernelGives) {
  SystemRandom random;
  // getrandom answers short above 256 bytes when a signal comes; and two fills never agree.
  std::vector<std::uint8_t> a(100'000);
  std::vector<std::uint8_t> b(100'000);
  random.fill(a);
  random.fill(b);
  EXPECT_NE(a, b);
  std::array<std::size_t, 256> counts{};
  for (const std::uint8_t byte : a) ++counts[byte];
  // 390 expected for each value, deviation 20.
  for (const std::size_t count : counts) EXPECT_GT(count, 200u);
}

}  // namespace
}  // namespace gyre

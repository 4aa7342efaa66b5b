#include "gyre/runtime/topology.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

namespace gyre::runtime {
namespace {

TEST(Topology, CoresAreAscendingAndDistinct) {
  const std::vector<int> cores = usable_cores();
  ASSERT_FALSE(cores.empty());
  EXPECT_EQ(std::ranges::adjacent_find(cores, std::greater_equal<>()), cores.end());
  EXPECT_GE(cores.front(), 0);
}

TEST(Topology, APinnedThreadRunsOnThatCoreAlone) {
  // A thread of its own: the mask stays behind.
  std::thread([] {
    const int core = usable_cores().back();
    ASSERT_TRUE(pin_to_core(core).ok());
    EXPECT_EQ(usable_cores(), std::vector<int>{core});
    EXPECT_EQ(sched_getcpu(), core);
  }).join();
}

TEST(Topology, PinningElsewhereNamesTheCore) {
  for (const int core : {-1, 60'000, 1 << 20}) {
    const absl::Status status = pin_to_core(core);
    EXPECT_FALSE(status.ok());
    EXPECT_NE(std::string(status.message()).find(std::to_string(core)), std::string::npos);
  }
}

}  // namespace
}  // namespace gyre::runtime

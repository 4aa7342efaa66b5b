#include "gyre/runtime/memory_limit.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

namespace gyre::runtime {
namespace {

class MemoryLimit : public ::testing::Test {
 protected:
  MemoryLimit() {
    std::string name = testing::TempDir() + "gyre-memory-XXXXXX";
    root_ = mkdtemp(name.data());
    write("/proc/meminfo", "MemFree: 7 kB\nMemTotal:       1000 kB\nMemAvailable: 5 kB\n");
  }
  ~MemoryLimit() override { std::filesystem::remove_all(root_); }

  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root_ + path).parent_path());
    std::ofstream(root_ + path) << text;
  }

  std::string root_;
};

TEST_F(MemoryLimit, IsTheMachinesWithoutControlGroups) {
  EXPECT_EQ(memory_limit_bytes(root_), 1000u * 1024);
}

TEST_F(MemoryLimit, IsThatOfTheOwnGroup) {
  write("/proc/self/cgroup", "0::/system.slice/gyre.service\n");
  write("/sys/fs/cgroup/system.slice/gyre.service/memory.max", "4096\n");
  write("/sys/fs/cgroup/system.slice/gyre.service/memory.high", "max\n");
  EXPECT_EQ(memory_limit_bytes(root_), 4096u);
}

TEST_F(MemoryLimit, IsThatOfAGroupAboveIfItIsLower) {
  write("/proc/self/cgroup", "0::/system.slice/gyre.service\n");
  write("/sys/fs/cgroup/system.slice/gyre.service/memory.max", "8192\n");
  write("/sys/fs/cgroup/system.slice/memory.max", "5000\n");
  EXPECT_EQ(memory_limit_bytes(root_), 5000u);
}

TEST_F(MemoryLimit, KnowsWhereTheKernelBeginsToThrottle) {
  write("/proc/self/cgroup", "0::/gyre\n");
  write("/sys/fs/cgroup/gyre/memory.max", "8192\n");
  write("/sys/fs/cgroup/gyre/memory.high", "6000\n");
  EXPECT_EQ(memory_limit_bytes(root_), 6000u);
}

TEST_F(MemoryLimit, IsFoundInAContainerThatSeesOnlyItsOwnGroup) {
  write("/proc/self/cgroup", "0::/../../docker/0123\n");
  write("/sys/fs/cgroup/memory.max", "7000\n");
  EXPECT_EQ(memory_limit_bytes(root_), 7000u);
}

TEST_F(MemoryLimit, ReadsTheFirstVersionToo) {
  write("/proc/self/cgroup", "9:name=systemd:/x\n4:cpu,memory:/gyre\n0::/\n");
  write("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("/sys/fs/cgroup/memory/gyre/memory.limit_in_bytes", "12288\n");
  EXPECT_EQ(memory_limit_bytes(root_), 12288u);
}

TEST_F(MemoryLimit, IsTheMachinesIfTheGroupsAreLarger) {
  write("/proc/self/cgroup", "0::/gyre\nnonsense\n");
  write("/sys/fs/cgroup/gyre/memory.max", "99999999999\n");
  EXPECT_EQ(memory_limit_bytes(root_), 1000u * 1024);
}

TEST_F(MemoryLimit, IsNoneWhereNothingCanBeRead) {
  EXPECT_EQ(memory_limit_bytes(root_ + "/nowhere"), std::numeric_limits<std::uint64_t>::max());
}

TEST(MemoryLimitHere, IsAtLeastWhatATestNeeds) { EXPECT_GT(memory_limit_bytes(), 1u << 20); }

}  // namespace
}  // namespace gyre::runtime

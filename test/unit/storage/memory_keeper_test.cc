#include "storage/memory_keeper.h"

#include <gtest/gtest.h>

#include <latch>
#include <thread>

namespace gyre::storage {
namespace {

TEST(MemoryKeeper, DoesItsTasksOneAfterTheOther) {
  MemoryKeeper keeper;
  std::latch done(1);
  int order = 0;
  int first = 0;
  int second = 0;
  keeper.start_thread({[&](const std::atomic<bool>&) { first = ++order; },
                       [&](const std::atomic<bool>&) {
                         second = ++order;
                         if (order == 2) done.count_down();
                       }});
  done.wait();
  keeper.stop_thread();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 2);
}

TEST(MemoryKeeper, ATaskThatLooksEndsWhenTheKeeperIsStopped) {
  MemoryKeeper keeper;
  std::latch begun(1);
  keeper.start_thread({[&](const std::atomic<bool>& is_stopping) {
    begun.count_down();
    while (!is_stopping.load()) std::this_thread::yield();
  }});
  begun.wait();
  keeper.stop_thread();
  keeper.stop_thread();
}

TEST(MemoryKeeper, NeedsNoThreadToBeDestroyed) { const MemoryKeeper keeper; }

}  // namespace
}  // namespace gyre::storage

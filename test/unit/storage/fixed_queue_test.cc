#include "storage/fixed_queue.h"

#include <deque>

#include <gtest/gtest.h>

#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

TEST(FixedQueue, AgreesWithADequeAroundItsEnd) {
  SeededRandom random(1);
  FixedQueue<std::uint32_t, 8> queue;
  std::deque<std::uint32_t> plain;
  for (std::uint32_t i = 0; i < 10'000; ++i) {
    const bool has_room = plain.size() < 8;
    ASSERT_EQ(queue.is_full(), !has_room);
    ASSERT_EQ(queue.is_empty(), plain.empty());
    if (plain.empty() || (has_room && random.next_u64() % 2 == 0)) {
      queue.push() = i;
      plain.push_back(i);
    } else {
      queue.pop();
      plain.pop_front();
    }
    ASSERT_EQ(queue.size(), plain.size());
    for (std::size_t at = 0; at < plain.size(); ++at) ASSERT_EQ(queue[at], plain[at]);
  }
  queue.clear();
  EXPECT_TRUE(queue.is_empty());
}

}  // namespace
}  // namespace gyre::storage

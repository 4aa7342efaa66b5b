#include "gyre/base/spsc_ring.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <deque>
#include <thread>

#include "gyre/base/random.h"

namespace gyre {
namespace {

TEST(SpscRing, HandsOutInTheOrderOfPushing) {
  SpscRing<int> ring(8);
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(ring.try_push(i));
  ring.publish();
  int item = -1;
  for (int i = 0; i < 5; ++i) {
    ASSERT_TRUE(ring.try_pop(item));
    EXPECT_EQ(item, i);
  }
  EXPECT_FALSE(ring.try_pop(item));
}

TEST(SpscRing, HidesItemsUntilTheyArePublished) {
  SpscRing<int> ring(4);
  ASSERT_TRUE(ring.try_push(1));
  int item = 0;
  EXPECT_TRUE(ring.empty());
  EXPECT_FALSE(ring.try_pop(item));
  EXPECT_TRUE(ring.publish());
  EXPECT_FALSE(ring.publish());
  EXPECT_FALSE(ring.empty());
  EXPECT_TRUE(ring.try_pop(item));
}

TEST(SpscRing, TakesExactlyItsSlotsAndThenRefuses) {
  SpscRing<int> ring(4);
  EXPECT_EQ(ring.room(4), 4u);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(ring.try_push(i));
  EXPECT_FALSE(ring.try_push(4));
  EXPECT_EQ(ring.room(1), 0u);
  ring.publish();
  EXPECT_FALSE(ring.try_push(4));
  int item = 0;
  ASSERT_TRUE(ring.try_pop(item));
  EXPECT_EQ(ring.room(1), 1u);
  EXPECT_TRUE(ring.try_push(4));
}

TEST(SpscRing, ASlotOfOneWorks) {
  SpscRing<int> ring(1);
  int item = 0;
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(ring.try_push(i));
    EXPECT_FALSE(ring.try_push(i));
    ring.publish();
    ASSERT_TRUE(ring.try_pop(item));
    EXPECT_EQ(item, i);
  }
}

TEST(SpscRingDeathTest, SlotCountMustBeAPowerOfTwo) {
  EXPECT_DEATH(SpscRing<int>(3), "has_single_bit");
  EXPECT_DEATH(SpscRing<int>(0), "has_single_bit");
}

TEST(SpscRing, AgreesWithADequeUnderRandomUse) {
  SeededRandom random(1);
  SpscRing<std::uint64_t> ring(16);
  std::deque<std::uint64_t> pushed;     // Not yet published.
  std::deque<std::uint64_t> published;  // Not yet popped.
  for (int step = 0; step < 100'000; ++step) {
    const std::uint64_t dice = random.next_u64();
    switch (dice % 4) {
      case 0:
      case 1: {
        const bool has_room = pushed.size() + published.size() < 16;
        ASSERT_EQ(ring.try_push(dice), has_room);
        if (has_room) pushed.push_back(dice);
        break;
      }
      case 2:
        ASSERT_EQ(ring.publish(), !pushed.empty());
        published.insert(published.end(), pushed.begin(), pushed.end());
        pushed.clear();
        break;
      default: {
        std::uint64_t item = 0;
        ASSERT_EQ(ring.empty(), published.empty());
        ASSERT_EQ(ring.try_pop(item), !published.empty());
        if (published.empty()) break;
        ASSERT_EQ(item, published.front());
        published.pop_front();
      }
    }
  }
}

// Wide items, so that a slot seen before it is written, or overwritten before it is read, shows as
// a torn item, and as a race under the thread sanitizer.
struct Wide {
  std::array<std::uint64_t, 8> words;
};

TEST(SpscRing, TwoThreadsLoseNothingAndTearNothing) {
  constexpr std::uint64_t kItems = 300'000;
  SpscRing<Wide> ring(64);
  std::thread producer([&ring] {
    for (std::uint64_t i = 0; i < kItems;) {
      // Batches of changing size, as a turn of a shard makes them.
      const std::size_t batch = 1 + i % 7;
      std::size_t pushed = 0;
      while (pushed < batch && i < kItems) {
        Wide item;
        item.words.fill(i);
        if (!ring.try_push(item)) break;
        ++pushed;
        ++i;
      }
      if (!ring.publish()) std::this_thread::yield();
    }
  });
  for (std::uint64_t expected = 0; expected < kItems;) {
    Wide item;
    if (!ring.try_pop(item)) {
      std::this_thread::yield();
      continue;
    }
    for (const std::uint64_t word : item.words) ASSERT_EQ(word, expected);
    ++expected;
  }
  producer.join();
  EXPECT_TRUE(ring.empty());
}

}  // namespace
}  // namespace gyre

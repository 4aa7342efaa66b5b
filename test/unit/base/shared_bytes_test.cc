#include "gyre/base/shared_bytes.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "gyre/base/spsc_ring.h"

namespace gyre {
namespace {

std::string text_of(const SharedBytes& bytes) { return std::string(as_text(bytes.span())); }

TEST(SharedBytesWriter, KeepsWhatWasWrittenThroughEveryGrowth) {
  SharedBytesWriter writer;
  std::string expected;
  for (std::uint32_t i = 0; expected.size() < 300'000; ++i) {
    const std::string part(i % 700, static_cast<char>('a' + i % 26));
    std::memcpy(writer.extend(static_cast<std::uint32_t>(part.size())), part.data(), part.size());
    expected += part;
    ASSERT_EQ(writer.size(), expected.size());
  }
  const SharedBytes bytes = writer.take();
  EXPECT_EQ(text_of(bytes), expected);
  EXPECT_EQ(writer.size(), 0u);
}

TEST(SharedBytesWriter, BeginsAnewAfterItsBytesAreTaken) {
  SharedBytesWriter writer;
  EXPECT_TRUE(writer.take().is_null());
  std::memcpy(writer.extend(3), "one", 3);
  const SharedBytes first = writer.take();
  std::memcpy(writer.extend(3), "two", 3);
  const SharedBytes second = writer.take();
  EXPECT_EQ(text_of(first), "one");
  EXPECT_EQ(text_of(second), "two");
  EXPECT_TRUE(writer.take().is_null());
}

TEST(SharedBytesWriter, MovesAndForgets) {
  SharedBytesWriter writer;
  std::memcpy(writer.extend(4), "kept", 4);
  SharedBytesWriter other = std::move(writer);
  writer = SharedBytesWriter();
  EXPECT_EQ(other.size(), 4u);
  other = SharedBytesWriter();
  EXPECT_EQ(other.size(), 0u);
}

TEST(SharedBytes, KeepsACopy) {
  std::string text = "an event";
  const SharedBytes bytes = SharedBytes::copy_of(as_bytes(text));
  text[0] = 'X';
  EXPECT_EQ(text_of(bytes), "an event");
  EXPECT_EQ(bytes.size(), 8u);
  EXPECT_FALSE(bytes.is_null());
}

TEST(SharedBytes, IsNullUntilItHoldsSomething) {
  SharedBytes bytes;
  EXPECT_TRUE(bytes.is_null());
  bytes = SharedBytes::copy_of({});
  EXPECT_FALSE(bytes.is_null());
  EXPECT_EQ(bytes.size(), 0u);
}

TEST(SharedBytes, CopiesLookAtTheSameBytes) {
  const SharedBytes a = SharedBytes::copy_of(as_bytes("shared"));
  const SharedBytes b = a;
  EXPECT_EQ(a.data(), b.data());
}

TEST(SharedBytes, OutlivesTheHandleItWasCopiedFrom) {
  SharedBytes kept;
  {
    const SharedBytes first = SharedBytes::copy_of(as_bytes("still here"));
    kept = first;
  }
  EXPECT_EQ(text_of(kept), "still here");
}

TEST(SharedBytes, MovingLeavesNothingBehind) {
  SharedBytes a = SharedBytes::copy_of(as_bytes("moved"));
  const SharedBytes b = std::move(a);
  EXPECT_TRUE(a.is_null());  // NOLINT(bugprone-use-after-move): this is the contract.
  EXPECT_EQ(text_of(b), "moved");
}

TEST(SharedBytes, AssigningItselfKeepsIt) {
  SharedBytes a = SharedBytes::copy_of(as_bytes("self"));
  SharedBytes& same = a;
  a = same;
  EXPECT_EQ(text_of(a), "self");
}

TEST(SharedBytes, DetachedBlockComesBackWithAdopt) {
  SharedBytes a = SharedBytes::copy_of(as_bytes("travels"));
  SharedBytes::Block* const block = a.detach();
  EXPECT_TRUE(a.is_null());
  EXPECT_EQ(block->references.load(), 1u);
  const SharedBytes b = SharedBytes::adopt(block);
  EXPECT_EQ(block->references.load(), 1u);
  EXPECT_EQ(text_of(b), "travels");
}

// What shards do: a handle goes through a ring as a plain pointer, both sides copy and drop
// handles, and the last one frees. The sanitizers see a leak, an early free or a race.
TEST(SharedBytes, TwoThreadsDropHandlesInAnyOrder) {
  constexpr int kBlocks = 20'000;
  SpscRing<SharedBytes::Block*> ring(64);
  std::uint64_t sum_read = 0;
  std::thread consumer([&] {
    for (int i = 0; i < kBlocks;) {
      SharedBytes::Block* block = nullptr;
      if (!ring.try_pop(block)) {
        std::this_thread::yield();
        continue;
      }
      const SharedBytes bytes = SharedBytes::adopt(block);
      const SharedBytes copy = bytes;
      std::uint32_t value = 0;
      std::memcpy(&value, copy.data(), sizeof value);
      sum_read += value;
      ++i;
    }
  });
  std::uint64_t sum_sent = 0;
  for (std::uint32_t i = 0; i < kBlocks; ++i) {
    std::uint8_t raw[sizeof i];
    std::memcpy(raw, &i, sizeof i);
    const SharedBytes kept = SharedBytes::copy_of(raw);
    SharedBytes sent = kept;
    sum_sent += i;
    SharedBytes::Block* const block = sent.detach();
    while (!ring.try_push(block)) std::this_thread::yield();
    ring.publish();
    EXPECT_EQ(kept.size(), sizeof i);
  }
  consumer.join();
  EXPECT_EQ(sum_read, sum_sent);
}

}  // namespace
}  // namespace gyre

#include "gyre/runtime/mesh.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <semaphore>
#include <thread>
#include <utility>
#include <vector>

#include "gyre/base/random.h"
#include "support/sim_io.h"

namespace gyre::runtime {
namespace {

MeshSlot slot_of(std::uint64_t value) {
  MeshSlot slot{};
  std::memcpy(slot.bytes.data(), &value, sizeof value);
  std::memcpy(slot.bytes.data() + sizeof slot.bytes - sizeof value, &value, sizeof value);
  return slot;
}

std::uint64_t value_of(const MeshSlot& slot) {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::memcpy(&first, slot.bytes.data(), sizeof first);
  std::memcpy(&last, slot.bytes.data() + sizeof slot.bytes - sizeof last, sizeof last);
  EXPECT_EQ(first, last) << "a torn message";
  return first;
}

class MeshTest : public ::testing::Test {
 protected:
  SeededRandom random_{1};
  test::SimNetwork network_{3, random_};
  Mesh mesh_{3, 8, 8};
  MeshPort a_{mesh_, 0};
  MeshPort b_{mesh_, 1};
  MeshPort c_{mesh_, 2};
  ShardId from_ = 99;
  MeshSlot slot_{};
};

TEST_F(MeshTest, MessagesArriveInOrderWithTheirSender) {
  for (std::uint64_t i = 0; i < 5; ++i) EXPECT_TRUE(a_.try_send_request(1, slot_of(i)));
  EXPECT_TRUE(a_.try_send_reply(1, slot_of(100)));
  EXPECT_TRUE(a_.flush(network_.io(0)));
  EXPECT_FALSE(a_.flush(network_.io(0)));
  for (std::uint64_t i = 0; i < 5; ++i) {
    ASSERT_TRUE(b_.try_take_request(from_, slot_));
    EXPECT_EQ(from_, 0);
    EXPECT_EQ(value_of(slot_), i);
  }
  EXPECT_FALSE(b_.try_take_request(from_, slot_));
  ASSERT_TRUE(b_.try_take_reply(from_, slot_));
  EXPECT_EQ(value_of(slot_), 100u);
  EXPECT_FALSE(c_.has_incoming());
}

TEST_F(MeshTest, NothingIsSeenBeforeTheFlush) {
  EXPECT_TRUE(a_.try_send_request(1, slot_of(1)));
  EXPECT_FALSE(b_.has_incoming());
  EXPECT_FALSE(b_.try_take_request(from_, slot_));
  a_.flush(network_.io(0));
  EXPECT_TRUE(b_.has_incoming());
}

TEST_F(MeshTest, AShardSendsToItselfTheSameWay) {
  EXPECT_TRUE(a_.try_send_request(0, slot_of(7)));
  a_.flush(network_.io(0));
  EXPECT_TRUE(a_.has_incoming());
  ASSERT_TRUE(a_.try_take_request(from_, slot_));
  EXPECT_EQ(from_, 0);
  EXPECT_EQ(value_of(slot_), 7u);
}

TEST_F(MeshTest, FullRingsRefuseAndLeaveOthersAlone) {
  EXPECT_TRUE(a_.has_request_room(1, 8));
  EXPECT_FALSE(a_.has_request_room(1, 9));
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_TRUE(a_.try_send_request(1, slot_of(i)));
  EXPECT_FALSE(a_.try_send_request(1, slot_of(8)));
  EXPECT_FALSE(a_.has_request_room(1, 1));
  EXPECT_TRUE(a_.has_request_room(2, 8));
  EXPECT_TRUE(a_.has_reply_room_everywhere(8));
  EXPECT_TRUE(a_.try_send_reply(2, slot_of(9)));
  EXPECT_FALSE(a_.has_reply_room_everywhere(8));
  EXPECT_TRUE(a_.has_reply_room_everywhere(7));
}

TEST_F(MeshTest, SourcesAreServedInTurn) {
  for (std::uint64_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(a_.try_send_request(2, slot_of(i)));
    EXPECT_TRUE(b_.try_send_request(2, slot_of(10 + i)));
  }
  a_.flush(network_.io(0));
  b_.flush(network_.io(1));
  std::vector<std::uint64_t> values;
  while (c_.try_take_request(from_, slot_)) values.push_back(value_of(slot_));
  EXPECT_EQ(values, (std::vector<std::uint64_t>{0, 10, 1, 11, 2, 12}));
}

TEST_F(MeshTest, OnlyASleeperIsWokenAndOnlyOnce) {
  EXPECT_TRUE(a_.try_send_request(1, slot_of(1)));
  a_.flush(network_.io(0));
  EXPECT_EQ(network_.wake_count(1), 0u);
  ASSERT_TRUE(b_.try_take_request(from_, slot_));

  ASSERT_TRUE(b_.try_fall_asleep());
  EXPECT_TRUE(a_.try_send_request(1, slot_of(2)));
  EXPECT_TRUE(a_.try_send_reply(1, slot_of(3)));
  a_.flush(network_.io(0));
  EXPECT_EQ(network_.wake_count(1), 1u);
  EXPECT_TRUE(c_.try_send_request(1, slot_of(4)));
  c_.flush(network_.io(2));
  EXPECT_EQ(network_.wake_count(1), 1u);
  b_.wake_up();

  ASSERT_FALSE(b_.try_fall_asleep());  // Three messages wait.
  EXPECT_TRUE(a_.try_send_request(1, slot_of(5)));
  a_.flush(network_.io(0));
  EXPECT_EQ(network_.wake_count(1), 1u) << "a shard that stayed awake was woken";
}

TEST_F(MeshTest, MemoryIsThatOfAllRings) {
  const std::size_t slots = 3 * 3 * 16 * sizeof(MeshSlot);
  EXPECT_GE(mesh_.memory_bytes(), slots);
  EXPECT_LE(mesh_.memory_bytes(), slots + 10 * 1024);
}

// An Io whose only ability is to wake a thread that waits on a semaphore. Several wake-ups may be
// remembered; the counting semaphore is what the kernel's eventfd is.
class WakingIo final : public Io {
 public:
  explicit WakingIo(std::vector<std::counting_semaphore<>*> doors) : doors_(std::move(doors)) {}
  void wake(ShardId shard) override { doors_[shard]->release(); }
  void submit_accept(int, Completion&) override {}
  void submit_recv(int, Completion&) override {}
  void submit_send(int, std::span<const iovec>, Completion&) override {}
  void submit_read(int, std::uint64_t, std::span<std::uint8_t>, Completion&) override {}
  void cancel(Completion&) override {}
  void shutdown(int) override {}
  void close(int) override {}
  Address peer_address(int) override { return {}; }
  Waker& waker() override { std::abort(); }
  void reap() override {}
  bool run(std::size_t) override { return false; }
  void enter(Wait, std::uint64_t) override {}

 private:
  std::vector<std::counting_semaphore<>*> doors_;
};

// The sender often waits until everything has been read before it goes on: otherwise its next
// message would wake a reader that the last one forgot. So a lost wake-up hangs this test. The
// reader looks a random number of times before it sleeps, which moves the moment of falling asleep
// over the moment of sending.
TEST(MeshStress, NoWakeUpIsLostBetweenTwoThreads) {
  constexpr std::uint64_t kMessages = 200'000;
  constexpr std::uint64_t kLooksMax = 64;
  Mesh mesh(2, 64, 64);
  std::counting_semaphore<> doors[2] = {std::counting_semaphore<>(0), std::counting_semaphore<>(0)};
  WakingIo io({&doors[0], &doors[1]});
  std::atomic<std::uint64_t> received = 0;
  std::uint64_t sleeps = 0;
  std::thread reader([&] {
    MeshPort port(mesh, 1);
    SeededRandom random(6);
    ShardId from = 0;
    MeshSlot slot;
    for (std::uint64_t expected = 0; expected < kMessages;) {
      bool has_message = false;
      for (std::uint64_t looks = random.next_u64() % kLooksMax; !has_message; --looks) {
        has_message = port.try_take_request(from, slot);
        if (looks == 0) break;
      }
      if (has_message) {
        ASSERT_EQ(value_of(slot), expected++);
        received.store(expected, std::memory_order_relaxed);
      } else if (port.try_fall_asleep()) {
        ++sleeps;
        doors[1].acquire();
        port.wake_up();
      }
    }
  });
  MeshPort port(mesh, 0);
  SeededRandom random(5);
  for (std::uint64_t sent = 0; sent < kMessages;) {
    const std::uint64_t dice = random.next_u64();
    for (std::uint64_t i = 0; i <= dice % 3 && sent < kMessages; ++i) {
      if (!port.try_send_request(1, slot_of(sent))) break;
      ++sent;
    }
    port.flush(io);
    if (dice >> 63 == 0) continue;
    while (received.load(std::memory_order_relaxed) < sent) std::this_thread::yield();
  }
  reader.join();
  EXPECT_GT(sleeps, 0u);
}

// Sends one message and waits for one, `rounds` times; sleeps when it has looked in vain for a
// random while. The side that does not start answers.
void alternate(Mesh& mesh, ShardId self, bool starts, int rounds, Io& io,
               std::counting_semaphore<>& door) {
  MeshPort port(mesh, self);
  SeededRandom random(self + 1u);
  const auto other = static_cast<ShardId>(1 - self);
  ShardId from = 0;
  MeshSlot slot;
  for (int round = 0; round < rounds; ++round) {
    const std::uint64_t value = static_cast<std::uint64_t>(round);
    if (starts) {
      ASSERT_TRUE(port.try_send_reply(other, slot_of(value)));
      port.flush(io);
    }
    for (std::uint64_t looks = random.next_u64() % 64; !port.try_take_reply(from, slot);) {
      if (looks > 0) {
        --looks;
      } else if (port.try_fall_asleep()) {
        door.acquire();
        port.wake_up();
      }
    }
    ASSERT_EQ(value_of(slot), value);
    if (!starts) {
      ASSERT_TRUE(port.try_send_reply(other, slot_of(value)));
      port.flush(io);
    }
  }
}

// One message on its way at any time: each of its wake-ups counts, and a lost one hangs the test.
TEST(MeshStress, TwoThreadsAnswerEachOther) {
  constexpr int kRounds = 50'000;
  Mesh mesh(2, 8, 8);
  std::counting_semaphore<> doors[2] = {std::counting_semaphore<>(0), std::counting_semaphore<>(0)};
  WakingIo io({&doors[0], &doors[1]});
  std::thread answerer([&] { alternate(mesh, 1, false, kRounds, io, doors[1]); });
  alternate(mesh, 0, true, kRounds, io, doors[0]);
  answerer.join();
}

}  // namespace
}  // namespace gyre::runtime

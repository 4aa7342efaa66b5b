// What only the kernel's Io has: shortages of its queues and buffers, wake-ups between rings,
// sleep.
#include "gyre/runtime/uring_io.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/runtime/mesh.h"
#include "gyre/runtime/shard.h"
#include "io_harness.h"

namespace gyre::runtime {
namespace {

constexpr std::uint64_t kMillisecond = 1'000'000;

// Several clients that send as fast as they can to one shard.
class Flood {
 public:
  Flood(const UringOptions& options, int clients, std::size_t bytes_each)
      : harness_(make_uring_harness(options)), acceptor_(*harness_) {
    acceptor_.start();
    for (int i = 0; i < clients; ++i) {
      // One at a time, so that the order of accepting is known.
      harness_->connect();
      const auto expected = static_cast<std::size_t>(i) + 1;
      EXPECT_TRUE(harness_->turn_until([&] { return sockets().size() == expected; }));
      sent_.push_back(patterned(bytes_each, expected));
    }
  }

  void start() {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      sockets()[i]->receive();
      harness_->write(static_cast<int>(i), sent_[i]);
    }
  }
  [[nodiscard]] bool has_all_arrived() const {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      if (acceptor_.sockets[i]->received.size() < sent_[i].size()) return false;
    }
    return true;
  }
  void expect_intact() {
    for (std::size_t i = 0; i < sent_.size(); ++i) {
      EXPECT_TRUE(sockets()[i]->received == sent_[i]) << "connection " << i;
    }
  }
  [[nodiscard]] const std::string& sent(std::size_t client) const { return sent_[client]; }
  [[nodiscard]] IoHarness& harness() { return *harness_; }
  [[nodiscard]] std::vector<std::unique_ptr<ServerSocket>>& sockets() { return acceptor_.sockets; }
  [[nodiscard]] IoCounters counters() { return harness_->io().counters(); }
  // So that the descriptors are closed, armed or not: the ring goes first.
  ~Flood() {
    std::vector<int> descriptors;
    for (const auto& socket : sockets()) descriptors.push_back(socket->descriptor);
    harness_.reset();
    for (const int descriptor : descriptors) close(descriptor);
  }

 private:
  std::unique_ptr<IoHarness> harness_;
  Acceptor acceptor_;
  std::vector<std::string> sent_;
};

UringOptions tiny_buffers() {
  UringOptions options;
  options.receive_buffers = 4;
  options.receive_buffer_bytes = 512;
  return options;
}

TEST(UringIo, FourBuffersForTwelveFloodsLoseNothing) {
  Flood flood(tiny_buffers(), 12, 300'000);
  flood.start();
  ASSERT_TRUE(flood.harness().turn_until([&] { return flood.has_all_arrived(); }));
  flood.expect_intact();
  EXPECT_GT(flood.counters().buffer_shortages, 0u);
  for (const auto& socket : flood.sockets()) {
    EXPECT_EQ(socket->receive_ends, 0) << "a shortage was shown to the owner";
    EXPECT_TRUE(socket->is_receiving());
  }
}

TEST(UringIo, OneBufferIsEnough) {
  UringOptions options = tiny_buffers();
  options.receive_buffers = 1;
  Flood flood(options, 3, 20'000);
  flood.start();
  ASSERT_TRUE(flood.harness().turn_until([&] { return flood.has_all_arrived(); }));
  flood.expect_intact();
}

// Cancelling meets every state of an operation that comes and goes for want of buffers: in the
// kernel, ended there but unseen, waiting to be armed again.
TEST(UringIo, CancellingDuringShortagesEndsExactlyOnce) {
  Flood flood(tiny_buffers(), 8, 100'000);
  flood.start();
  SeededRandom random(11);
  std::vector<int> arms(flood.sockets().size(), 1);
  ASSERT_TRUE(flood.harness().turn_until([&] {
    for (std::size_t i = 0; i < arms.size(); ++i) {
      ServerSocket& socket = *flood.sockets()[i];
      if (!socket.is_receiving()) {
        EXPECT_EQ(socket.receive_ends, arms[i]);
        socket.receive();
        ++arms[i];
      } else {
        EXPECT_EQ(socket.receive_ends, arms[i] - 1);
        socket.cancels_when_called = random.next_u64() % 8 == 0;
        if (random.next_u64() % 4 == 0) socket.cancel_receive();
      }
    }
    return flood.has_all_arrived();
  }));
  flood.expect_intact();
  EXPECT_GT(flood.counters().buffer_shortages, 0u);
  for (const int count : arms) EXPECT_GT(count, 5);
  for (const auto& socket : flood.sockets()) socket->cancel_receive();
  ASSERT_TRUE(flood.harness().turn_until([&] {
    return std::ranges::none_of(flood.sockets(), [](const auto& s) { return s->is_receiving(); });
  }));
}

// The one moment when the kernel knows nothing of the operation: after its shortage was seen, and
// before the same run() arms it again. The completion of another socket's send comes in between.
TEST(UringIo, CancellingWhatWaitsForABufferEndsItInTheSameRun) {
  UringOptions options = tiny_buffers();
  options.receive_buffers = 1;
  Flood flood(options, 2, 600);
  Io& io = flood.harness().io();
  ServerSocket& starved = *flood.sockets()[0];
  ServerSocket& other = *flood.sockets()[1];
  starved.receive();
  flood.harness().write(0, flood.sent(0));
  // 600 bytes fill the only buffer of 512 and then lack another: two completions.
  const std::uint64_t patience_ns = SystemClock().monotonic_ns() + 20'000 * kMillisecond;
  io.enter(Io::Wait::kPoll, 0);
  io.enter(Io::Wait::kSleep, patience_ns);
  other.when_sent = [&] { starved.cancel_receive(); };
  other.send({"now"});
  io.enter(Io::Wait::kPoll, 0);
  io.reap();
  EXPECT_FALSE(io.run(256));
  EXPECT_EQ(flood.counters().buffer_shortages, 1u);
  EXPECT_EQ(starved.received.size(), 512u);
  EXPECT_EQ(starved.receive_ends, 1);
  EXPECT_EQ(starved.receive_result, -ECANCELED);
  EXPECT_FALSE(starved.is_receiving());
  starved.receive();
  ASSERT_TRUE(flood.harness().turn_until([&] { return starved.received == flood.sent(0); }));
  EXPECT_EQ(starved.receive_ends, 1);
}

TEST(UringIo, OverflowingCompletionsLoseNothing) {
  UringOptions options;
  options.submission_entries = 8;
  options.completion_entries = 16;
  options.receive_buffer_bytes = 64;
  Flood flood(options, 8, 200'000);
  flood.start();
  ASSERT_TRUE(flood.harness().turn_until([&] { return flood.has_all_arrived(); }));
  flood.expect_intact();
  EXPECT_GT(flood.counters().queue_overflows, 0u);
  for (const auto& socket : flood.sockets()) EXPECT_EQ(socket->receive_ends, 0);
}

TEST(UringIo, AFullSubmissionQueueIsSubmittedOnTheWay) {
  UringOptions options;
  options.submission_entries = 4;
  options.completion_entries = 4096;
  Flood flood(options, 30, 5'000);
  flood.start();
  // Two slices each: a message header must not be used twice before the kernel has read it.
  for (std::size_t i = 0; i < flood.sockets().size(); ++i) {
    flood.sockets()[i]->send({"to number ", std::to_string(i)});
  }
  ASSERT_TRUE(flood.harness().turn_until([&] { return flood.has_all_arrived(); }));
  flood.expect_intact();
  for (std::size_t i = 0; i < flood.sockets().size(); ++i) {
    const std::string expected = "to number " + std::to_string(i);
    std::string got;
    ASSERT_TRUE(flood.harness().turn_until([&] {
      got += flood.harness().read(static_cast<int>(i));
      return got.size() >= expected.size();
    }));
    EXPECT_EQ(got, expected);
  }
}

TEST(UringIo, NothingToDoCostsNoSystemCall) {
  const std::unique_ptr<IoHarness> harness = make_uring_harness();
  harness->turn();  // Arms the waker.
  const std::uint64_t before = harness->io().counters().enters;
  for (int i = 0; i < 100; ++i) harness->turn();
  EXPECT_EQ(harness->io().counters().enters, before);
}

TEST(UringIo, RunningOutOfDescriptorsEndsTheAcceptAndLeavesTheClientInLine) {
  const std::unique_ptr<IoHarness> harness = make_uring_harness();
  Acceptor acceptor(*harness);
  harness->connect();
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none = {0, limit.rlim_max};
  // The kernel reads the limit once, when it takes the accept.
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  acceptor.start();
  const bool has_ended = harness->turn_until([&] { return acceptor.ends == 1; });
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  ASSERT_TRUE(has_ended);
  EXPECT_EQ(acceptor.result, -EMFILE);
  acceptor.start();
  ASSERT_TRUE(harness->turn_until([&] { return acceptor.sockets.size() == 1; }));
  close(acceptor.sockets[0]->descriptor);
}

// One ring in a thread of its own.
std::unique_ptr<Io> make_io(ShardId self, UringSet& set) {
  auto io = make_uring_io(self, set, {});
  EXPECT_TRUE(io.ok()) << io.status().ToString();
  return *std::move(io);
}

void sleep_once(Io& io, std::uint64_t deadline_ns) {
  io.enter(Io::Wait::kSleep, deadline_ns);
  io.reap();
  io.run(256);
}

TEST(UringIo, SleepEndsAtItsDeadline) {
  UringSet set(1);
  const std::unique_ptr<Io> io = make_io(0, set);
  const SystemClock clock;
  const std::uint64_t deadline_ns = clock.monotonic_ns() + 20 * kMillisecond;
  sleep_once(*io, deadline_ns);
  EXPECT_GE(clock.monotonic_ns(), deadline_ns);
  EXPECT_LT(clock.monotonic_ns(), deadline_ns + 5'000 * kMillisecond);
  const std::uint64_t now_ns = clock.monotonic_ns();
  sleep_once(*io, now_ns - 1);  // Passed: no sleep at all.
  EXPECT_LT(clock.monotonic_ns(), now_ns + 5'000 * kMillisecond);
}

TEST(UringIo, AnotherThreadWakesASleeper) {
  UringSet set(1);
  const std::unique_ptr<Io> io = make_io(0, set);
  Waker& waker = io->waker();
  std::atomic<int> wakes = 0;
  for (int round = 1; round <= 50; ++round) {
    std::thread thread([&] {
      wakes.store(round);
      waker.wake();
    });
    // Without the wake-up this sleeps for an hour.
    while (wakes.load() < round) sleep_once(*io, UINT64_MAX);
    thread.join();
  }
  // A wake-up that came while awake ends the next sleep.
  waker.wake();
  sleep_once(*io, UINT64_MAX);
}

TEST(UringIo, WakingAShardThatHasGoneIsHarmless) {
  UringSet set(2);
  const std::unique_ptr<Io> io = make_io(0, set);
  io->wake(1);
  {
    const std::unique_ptr<Io> other = make_io(1, set);
  }
  EXPECT_EQ(set.ring_descriptor(1), -1);
  io->wake(1);
  io->enter(Io::Wait::kPoll, 0);
}

// Two shards, two threads, two rings: each message finds the other asleep more often than not, and
// only a message of the ring (IORING_OP_MSG_RING) ends the sleep.
class PingPong final : public ShardProgram {
 public:
  PingPong(MeshPort& port, int rounds, bool starts) : port_(port), rounds_(rounds), owes_(starts) {}
  void on_reply(ShardId, const MeshSlot&) override { take(); }
  bool can_take_request() override { return true; }
  void on_request(ShardId, const MeshSlot&) override {}
  bool work() override {
    if (owes_ && sent_ < rounds_) {
      const auto other = static_cast<ShardId>(1 - port_.self());
      EXPECT_TRUE(port_.try_send_reply(other, {}));
      ++sent_;
      owes_ = false;
    }
    return false;
  }
  void flush_connections() override {}
  bool is_finished() const override { return sent_ == rounds_ && taken_ == rounds_; }

 private:
  void take() {
    ++taken_;
    owes_ = true;
  }
  MeshPort& port_;
  const int rounds_;
  bool owes_;
  int sent_ = 0;
  int taken_ = 0;
};

TEST(UringIo, ShardsWakeEachOtherByRingMessages) {
  constexpr int kRounds = 5'000;
  UringSet set(2);
  Mesh mesh(2, 8, 8);
  const SystemClock clock;
  std::atomic<int> ready = 0;
  std::atomic<int> finished = 0;
  const auto run = [&](ShardId self) {
    const std::unique_ptr<Io> io = make_io(self, set);
    ++ready;
    while (ready.load() < 2) std::this_thread::yield();
    MeshPort port(mesh, self);
    TimerWheel timers(clock.monotonic_ns());
    PingPong program(port, kRounds, self == 0);
    Shard(*io, clock, port, timers, program, {.spin_ns = 0}).run();
    ++finished;
    while (finished.load() < 2) std::this_thread::yield();
  };
  std::thread other(run, ShardId{1});
  run(0);
  other.join();
}

}  // namespace
}  // namespace gyre::runtime

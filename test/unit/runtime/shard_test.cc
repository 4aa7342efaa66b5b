#include "gyre/runtime/shard.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gyre/base/random.h"
#include "support/sim_clock.h"
#include "support/sim_io.h"

namespace gyre::runtime {
namespace {

using Steps = std::vector<std::string>;

// Writes down what the shard asks of it.
class RecordingIo final : public Io {
 public:
  explicit RecordingIo(Steps& steps) : steps_(steps) {}
  bool has_completions_left = false;
  std::uint64_t completions = 0;
  std::uint64_t sleep_deadline_ns = 0;
  int sleeps = 0;
  int polls = 0;
  std::function<void()> when_entered;

  void reap() override { steps_.emplace_back("reap"); }
  bool run(std::size_t budget) override {
    EXPECT_EQ(budget, Shard::kCompletionsPerTurn);
    steps_.emplace_back("run");
    return has_completions_left;
  }
  void enter(Wait wait, std::uint64_t deadline_ns) override {
    steps_.emplace_back(wait == Wait::kSleep ? "sleep" : "poll");
    if (when_entered) when_entered();
    ++(wait == Wait::kSleep ? sleeps : polls);
    if (wait == Wait::kSleep) sleep_deadline_ns = deadline_ns;
  }
  IoCounters counters() const override { return {.completions = completions}; }
  void wake(ShardId shard) override { steps_.push_back("wake " + std::to_string(shard)); }
  void submit_accept(int, Completion&) override {}
  void submit_recv(int, Completion&) override {}
  void submit_send(int, std::span<const iovec>, Completion&) override {}
  void submit_read(int, std::uint64_t, std::span<std::uint8_t>, Completion&) override {}
  void cancel(Completion&) override {}
  void shutdown(int) override {}
  void close(int) override {}
  Address peer_address(int) override { return {}; }
  Waker& waker() override { std::abort(); }

 private:
  Steps& steps_;
};

class RecordingProgram final : public ShardProgram {
 public:
  explicit RecordingProgram(Steps& steps) : steps_(steps) {}
  bool has_room = true;
  bool has_work_left = false;
  int turns_until_finished = INT32_MAX;
  std::uint64_t due_ns = UINT64_MAX;
  std::size_t requests = 0;
  std::size_t replies = 0;
  std::uint64_t last_turn_ns = 0;
  std::function<void()> when_working;

  std::uint64_t next_due_ns() const override { return due_ns; }
  void on_reply(ShardId, const MeshSlot&) override {
    if (replies++ == 0) steps_.emplace_back("reply");
  }
  bool can_take_request() override { return has_room; }
  void on_request(ShardId, const MeshSlot&) override {
    if (requests++ == 0) steps_.emplace_back("request");
  }
  bool work() override {
    steps_.emplace_back("work");
    --turns_until_finished;
    if (when_working) when_working();
    return has_work_left;
  }
  void flush_connections() override { steps_.emplace_back("flush"); }
  void on_turn_end(std::uint64_t turn_ns) override { last_turn_ns = turn_ns; }
  bool is_finished() const override { return turns_until_finished == 0; }

 private:
  Steps& steps_;
};

class ShardTest : public ::testing::Test {
 protected:
  void on_timer() { steps_.emplace_back("timer"); }
  void send(bool is_request, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(is_request ? peer_.try_send_request(0, {}) : peer_.try_send_reply(0, {}));
    }
    peer_.flush(peer_io_);
  }
  Shard make_shard(std::uint64_t spin_ns = 0) {
    return Shard(io_, clock_, port_, timers_, program_, {.spin_ns = spin_ns});
  }

  Steps steps_;
  Steps peer_steps_;
  RecordingIo io_{steps_};
  RecordingIo peer_io_{peer_steps_};
  RecordingProgram program_{steps_};
  test::SimClock clock_;
  Mesh mesh_{2, 1024, 1024};
  MeshPort port_{mesh_, 0};
  MeshPort peer_{mesh_, 1};
  TimerWheel timers_{clock_.monotonic_ns()};
  Timer timer_ = bind_timer<&ShardTest::on_timer>(*this);
};

TEST_F(ShardTest, ATurnFollowsTheWrittenOrder) {
  send(true, 1);
  send(false, 1);
  timers_.set(timer_, clock_.monotonic_ns());
  ASSERT_TRUE(peer_.try_fall_asleep());
  ASSERT_TRUE(port_.try_send_request(1, {}));
  Shard shard = make_shard();
  EXPECT_EQ(shard.turn(true), Shard::Pace::kBusy);
  EXPECT_EQ(steps_, (Steps{"reply", "request", "reap", "run", "timer", "work", "flush", "wake 1",
                           "sleep"}));
}

TEST_F(ShardTest, TellsHowLongATurnTookWithoutItsSleep) {
  program_.when_working = [&] { clock_.advance_ms(3); };
  io_.when_entered = [&] { clock_.advance_ms(2); };
  Shard shard = make_shard();
  shard.turn(true);
  EXPECT_EQ(io_.sleeps, 1);
  EXPECT_EQ(program_.last_turn_ns, 3'000'000u);
  shard.turn(false);
  EXPECT_EQ(program_.last_turn_ns, 5'000'000u) << "what the kernel does while it is polled counts";
}

TEST_F(ShardTest, SleepsUntilTheNextTimerWhenNothingIsLeft) {
  const std::uint64_t deadline_ns = clock_.monotonic_ns() + 40 * TimerWheel::kTickNs;
  timers_.set(timer_, deadline_ns);
  Shard shard = make_shard();
  EXPECT_EQ(shard.turn(true), Shard::Pace::kIdle);
  EXPECT_EQ(io_.sleeps, 1);
  EXPECT_EQ(io_.sleep_deadline_ns, deadline_ns);
  timers_.cancel(timer_);
  shard.turn(true);
  EXPECT_EQ(io_.sleep_deadline_ns, UINT64_MAX);
}

TEST_F(ShardTest, SleepsNoLongerThanTheProgramMayWait) {
  const std::uint64_t deadline_ns = clock_.monotonic_ns() + 40 * TimerWheel::kTickNs;
  timers_.set(timer_, deadline_ns);
  program_.due_ns = deadline_ns - 1;
  Shard shard = make_shard();
  shard.turn(true);
  EXPECT_EQ(io_.sleep_deadline_ns, deadline_ns - 1);
  program_.due_ns = deadline_ns + 1;
  shard.turn(true);
  EXPECT_EQ(io_.sleep_deadline_ns, deadline_ns);
  timers_.cancel(timer_);
}

TEST_F(ShardTest, DoesNotSleepWhenItMayNot) {
  Shard shard = make_shard();
  EXPECT_EQ(shard.turn(false), Shard::Pace::kIdle);
  EXPECT_EQ(io_.sleeps, 0);
  EXPECT_EQ(io_.polls, 1);
}

TEST_F(ShardTest, AnythingLeftKeepsItAwake) {
  Shard shard = make_shard();
  program_.has_work_left = true;
  EXPECT_EQ(shard.turn(true), Shard::Pace::kBusy);
  program_.has_work_left = false;
  io_.has_completions_left = true;
  EXPECT_EQ(shard.turn(true), Shard::Pace::kBusy);
  io_.has_completions_left = false;
  std::vector<Timer> timers(Shard::kTimersPerTurn + 1, timer_);
  for (Timer& timer : timers) timers_.set(timer, 0);
  EXPECT_EQ(shard.turn(true), Shard::Pace::kBusy);
  EXPECT_EQ(io_.sleeps, 0);
  EXPECT_EQ(shard.turn(true), Shard::Pace::kBusy);  // Fires the last one, then may sleep.
  EXPECT_EQ(io_.sleeps, 1);
  EXPECT_EQ(shard.turn(true), Shard::Pace::kIdle);
}

TEST_F(ShardTest, MessagesToItselfKeepItAwake) {
  ASSERT_TRUE(port_.try_send_request(0, {}));
  Shard shard = make_shard();
  EXPECT_EQ(shard.turn(true), Shard::Pace::kBusy);
  EXPECT_EQ(io_.sleeps, 0);
  shard.turn(true);
  EXPECT_EQ(program_.requests, 1u);
  EXPECT_EQ(io_.sleeps, 1);
}

TEST_F(ShardTest, MessagesOfOneTurnAreBounded) {
  send(true, Shard::kMessagesPerTurn + 10);
  send(false, Shard::kMessagesPerTurn + 20);
  Shard shard = make_shard();
  shard.turn(true);
  EXPECT_EQ(program_.requests, Shard::kMessagesPerTurn);
  EXPECT_EQ(program_.replies, Shard::kMessagesPerTurn);
  EXPECT_EQ(io_.sleeps, 0);
  shard.turn(true);
  EXPECT_EQ(program_.requests, Shard::kMessagesPerTurn + 10);
  EXPECT_EQ(program_.replies, Shard::kMessagesPerTurn + 20);
}

TEST_F(ShardTest, RequestsWaitWhileTheProgramHasNoRoom) {
  send(true, 3);
  send(false, 3);
  program_.has_room = false;
  Shard shard = make_shard();
  EXPECT_EQ(shard.turn(true), Shard::Pace::kBusy);
  EXPECT_EQ(program_.requests, 0u);
  EXPECT_EQ(program_.replies, 3u);
  EXPECT_EQ(io_.sleeps, 0);
  program_.has_room = true;
  shard.turn(true);
  EXPECT_EQ(program_.requests, 3u);
}

TEST_F(ShardTest, SpinsForItsTimeAfterTheLastThingDone) {
  Shard shard = make_shard(50'000);
  ++io_.completions;
  shard.turn(true);  // The counter moves during run() only; nothing was done here.
  EXPECT_EQ(io_.sleeps, 1);
  send(false, 1);
  shard.turn(true);
  EXPECT_EQ(io_.sleeps, 1);
  clock_.advance_ns(49'999);
  EXPECT_EQ(shard.turn(true), Shard::Pace::kIdle);
  EXPECT_EQ(io_.sleeps, 1);
  clock_.advance_ns(1);
  shard.turn(true);
  EXPECT_EQ(io_.sleeps, 2);
}

TEST_F(ShardTest, RunsUntilTheProgramIsFinishedAndDoesNotSleepThen) {
  program_.turns_until_finished = 5;
  make_shard().run();
  EXPECT_EQ(io_.sleeps, 4);
  EXPECT_EQ(io_.polls, 1);
}

// Everybody asks everybody, itself included, as fast as rings of four slots take it, and answers
// each request with a reply to all: the worst that mutual fullness can do.
class Chatterer final : public ShardProgram {
 public:
  Chatterer(MeshPort& port, std::uint32_t requests) : port_(port), to_send_(requests) {}
  std::uint32_t answered = 0;
  std::uint32_t refusals = 0;

  void on_reply(ShardId, const MeshSlot&) override { ++answered; }
  bool can_take_request() override {
    const bool has_room = port_.has_reply_room_everywhere(1);
    if (!has_room) ++refusals;
    return has_room;
  }
  void on_request(ShardId, const MeshSlot&) override {
    for (ShardId to = 0; to < port_.shard_count(); ++to) {
      ASSERT_TRUE(port_.try_send_reply(to, {}));
    }
  }
  bool work() override {
    for (ShardId to = 0; to < port_.shard_count(); ++to) {
      while (to_send_ > 0 && port_.try_send_request(to, {})) --to_send_;
    }
    return to_send_ > 0;
  }
  void flush_connections() override {}
  bool is_finished() const override { return false; }

 private:
  MeshPort& port_;
  std::uint32_t to_send_;
};

TEST(ShardMesh, FullRingsNeverDeadlock) {
  constexpr std::uint32_t kShards = 3;
  constexpr std::uint32_t kRequests = 3'000;
  SeededRandom random(9);
  test::SimNetwork network(kShards, random);
  test::SimClock clock;
  Mesh mesh(kShards, 4, 4);
  struct Member {
    Member(test::SimNetwork& network, const Clock& clock, Mesh& mesh, ShardId id)
        : port(mesh, id),
          timers(clock.monotonic_ns()),
          program(port, kRequests),
          shard(network.io(id), clock, port, timers, program, {}) {}
    MeshPort port;
    TimerWheel timers;
    Chatterer program;
    Shard shard;
  };
  std::vector<std::unique_ptr<Member>> members;
  for (ShardId id = 0; id < kShards; ++id) {
    members.push_back(std::make_unique<Member>(network, clock, mesh, id));
  }
  // Any schedule: a shard may be starved for a while.
  int idle_in_a_row = 0;
  for (int turns = 0; idle_in_a_row < 100; ++turns) {
    ASSERT_LT(turns, 1'000'000) << "no progress";
    const bool is_idle =
        members[random.next_u64() % kShards]->shard.turn(false) == Shard::Pace::kIdle;
    idle_in_a_row = is_idle ? idle_in_a_row + 1 : 0;
  }
  std::uint32_t refusals = 0;
  for (const auto& member : members) {
    EXPECT_EQ(member->program.answered, kShards * kRequests);
    refusals += member->program.refusals;
  }
  EXPECT_GT(refusals, 0u) << "the rings were never full: the test proves nothing";
}

}  // namespace
}  // namespace gyre::runtime

#include "gyre/runtime/timer_wheel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "gyre/base/random.h"

namespace gyre::runtime {
namespace {

constexpr std::uint64_t kTick = TimerWheel::kTickNs;
constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kHour = 3'600 * kSecond;
constexpr std::size_t kAll = SIZE_MAX;

struct Alarm {
  Timer timer = bind_timer<&Alarm::on_fire>(*this);
  int fired = 0;
  std::function<void()> action;

  Alarm() = default;
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
  void on_fire() {
    ++fired;
    if (action) action();
  }
};

// advance() is bounded even without a budget; a shard calls it each turn until it says false.
void advance_fully(TimerWheel& wheel, std::uint64_t now_ns) {
  for (int calls = 0; wheel.advance(now_ns, kAll); ++calls) ASSERT_LT(calls, 1'000);
}

TEST(TimerWheel, FiresAtItsDeadlineOrOneTickLaterButNeverEarlier) {
  for (std::uint64_t delay = 1; delay < 20 * kSecond; delay = delay * 3 + 1'234'567) {
    const std::uint64_t start = 12'345'678'901;
    TimerWheel wheel(start);
    Alarm alarm;
    wheel.set(alarm.timer, start + delay);
    wheel.advance(start + delay - 1, kAll);
    EXPECT_EQ(alarm.fired, 0) << delay;
    EXPECT_TRUE(alarm.timer.is_set());
    wheel.advance(start + delay + kTick, kAll);
    EXPECT_EQ(alarm.fired, 1) << delay;
    EXPECT_FALSE(alarm.timer.is_set());
    wheel.advance(start + delay + kHour, kAll);
    EXPECT_EQ(alarm.fired, 1) << delay;
  }
}

TEST(TimerWheel, PassedDeadlineFiresAtTheNextAdvance) {
  TimerWheel wheel(kSecond);
  Alarm alarm;
  wheel.set(alarm.timer, 0);
  EXPECT_LE(wheel.next_deadline_ns(), kSecond);
  EXPECT_FALSE(wheel.advance(kSecond, kAll));
  EXPECT_EQ(alarm.fired, 1);
}

TEST(TimerWheel, WithoutTimersThereIsNoDeadline) {
  TimerWheel wheel(kSecond);
  EXPECT_EQ(wheel.next_deadline_ns(), UINT64_MAX);
  Alarm alarm;
  wheel.set(alarm.timer, 2 * kSecond);
  EXPECT_NE(wheel.next_deadline_ns(), UINT64_MAX);
  wheel.cancel(alarm.timer);
  EXPECT_EQ(wheel.next_deadline_ns(), UINT64_MAX);
  wheel.cancel(alarm.timer);
  EXPECT_FALSE(alarm.timer.is_set());
}

TEST(TimerWheel, SettingAgainMoves) {
  TimerWheel wheel(0);
  Alarm alarm;
  wheel.set(alarm.timer, kSecond);
  wheel.set(alarm.timer, 5 * kSecond);
  wheel.advance(4 * kSecond, kAll);
  EXPECT_EQ(alarm.fired, 0);
  wheel.set(alarm.timer, 4 * kSecond + 1);
  wheel.advance(5 * kSecond, kAll);
  EXPECT_EQ(alarm.fired, 1);
}

TEST(TimerWheel, BudgetBoundsOneAdvance) {
  TimerWheel wheel(0);
  std::vector<Alarm> alarms(10);
  for (Alarm& alarm : alarms) wheel.set(alarm.timer, kSecond);
  const auto fired = [&alarms] {
    return std::ranges::count_if(alarms, [](const Alarm& alarm) { return alarm.fired == 1; });
  };
  EXPECT_TRUE(wheel.advance(kSecond, 4));
  EXPECT_EQ(fired(), 4);
  EXPECT_LE(wheel.next_deadline_ns(), kSecond);
  EXPECT_TRUE(wheel.advance(kSecond, 4));
  EXPECT_EQ(fired(), 8);
  EXPECT_FALSE(wheel.advance(kSecond, 4));
  EXPECT_EQ(fired(), 10);
}

TEST(TimerWheel, ATimerWaitingBehindTheBudgetCanBeCancelledAndMoved) {
  TimerWheel wheel(0);
  Alarm first;
  Alarm second;
  Alarm third;
  for (Alarm* const alarm : {&first, &second, &third}) wheel.set(alarm->timer, kSecond);
  EXPECT_TRUE(wheel.advance(2 * kSecond, 1));
  wheel.cancel(second.timer);
  wheel.set(third.timer, 3 * kSecond);
  EXPECT_FALSE(wheel.advance(2 * kSecond, kAll));
  EXPECT_EQ(second.fired + third.fired, 0);
  wheel.advance(3 * kSecond, kAll);
  EXPECT_EQ(third.fired, 1);
}

TEST(TimerWheel, AHandlerThatSetsItselfInThePastDoesNotHoldTheAdvance) {
  TimerWheel wheel(0);
  Alarm alarm;
  alarm.action = [&] { wheel.set(alarm.timer, 0); };
  wheel.set(alarm.timer, kSecond);
  EXPECT_TRUE(wheel.advance(kSecond, kAll));
  EXPECT_EQ(alarm.fired, 1);
  wheel.advance(kSecond, kAll);
  EXPECT_EQ(alarm.fired, 2);
  alarm.action = nullptr;
  EXPECT_FALSE(wheel.advance(kSecond, kAll));
}

TEST(TimerWheel, AHandlerMayCancelATimerThatIsDueWithIt) {
  TimerWheel wheel(0);
  Alarm first;
  Alarm second;
  first.action = [&] { wheel.cancel(second.timer); };
  second.action = [&] { wheel.cancel(first.timer); };
  wheel.set(first.timer, kSecond);
  wheel.set(second.timer, kSecond);
  wheel.advance(2 * kSecond, kAll);
  EXPECT_EQ(first.fired + second.fired, 1);
}

TEST(TimerWheel, AHandlerMayDestroyItsTimer) {
  TimerWheel wheel(0);
  auto alarm = std::make_unique<Alarm>();
  alarm->action = [&] {
    const auto action = std::move(alarm->action);  // Outlives the alarm for this call.
    alarm.reset();
  };
  wheel.set(alarm->timer, kSecond);
  wheel.advance(kSecond, kAll);
  EXPECT_EQ(alarm, nullptr);
}

TEST(TimerWheel, DeadlinesBeyondTheWheelAreKept) {
  const std::uint64_t start = 5 * kHour;
  TimerWheel wheel(start);
  Alarm day;
  Alarm year;
  Alarm never;
  wheel.set(day.timer, start + 24 * kHour);
  wheel.set(year.timer, start + 24 * 365 * kHour);
  wheel.set(never.timer, UINT64_MAX);
  advance_fully(wheel, start + 24 * kHour - kTick);
  EXPECT_EQ(day.fired, 0);
  advance_fully(wheel, start + 24 * kHour);
  EXPECT_EQ(day.fired, 1);
  advance_fully(wheel, start + 24 * 365 * kHour - kTick);
  EXPECT_EQ(year.fired, 0);
  advance_fully(wheel, start + 24 * 365 * kHour);
  EXPECT_EQ(year.fired, 1);
  EXPECT_EQ(never.fired, 0);
  wheel.cancel(never.timer);
}

TEST(TimerWheel, ManyTimersOfOneDistantSlotAllFire) {
  TimerWheel wheel(0);
  std::vector<Alarm> alarms(10'000);
  for (Alarm& alarm : alarms) wheel.set(alarm.timer, 30 * kSecond);
  advance_fully(wheel, 31 * kSecond);
  for (const Alarm& alarm : alarms) ASSERT_EQ(alarm.fired, 1);
}

// The naive twin: deadlines in a map, looked through at each advance.
class Twin {
 public:
  void set(int id, std::uint64_t deadline) { deadlines_[id] = deadline; }
  void cancel(int id) { deadlines_.erase(id); }
  [[nodiscard]] bool is_set(int id) const { return deadlines_.contains(id); }
  [[nodiscard]] std::uint64_t deadline(int id) const { return deadlines_.at(id); }
  // Ids that have to fire now: a tick begins at or after their deadline and not after `now`.
  [[nodiscard]] std::set<int> due(std::uint64_t now) const {
    std::set<int> ids;
    for (const auto& [id, deadline] : deadlines_) {
      if (deadline <= now / kTick * kTick) ids.insert(id);
    }
    return ids;
  }
  [[nodiscard]] std::uint64_t earliest() const {
    std::uint64_t earliest = UINT64_MAX;
    for (const auto& [id, deadline] : deadlines_) earliest = std::min(earliest, deadline);
    return earliest;
  }

 private:
  std::map<int, std::uint64_t> deadlines_;
};

class TwinRun {
 public:
  explicit TwinRun(std::uint64_t seed)
      : random_(seed), now_(random_.next_u64() % kHour), wheel_(now_), alarms_(kAlarms) {
    for (int id = 0; id < kAlarms; ++id) alarm(id).action = [this, id] { on_fire(id); };
  }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const auto dice = random_.next_u64() % 8;
      if (dice < 4) {
        set_randomly();
      } else if (dice < 5) {
        cancel_randomly();
      } else {
        advance();
        ASSERT_FALSE(::testing::Test::HasFatalFailure());
      }
      check_next_deadline();
    }
    for (int id = 0; id < kAlarms; ++id) wheel_.cancel(alarm(id).timer);
  }

 private:
  static constexpr int kAlarms = 40;

  Alarm& alarm(int id) { return alarms_[static_cast<std::size_t>(id)]; }
  int some_id() { return static_cast<int>(random_.next_u64() % kAlarms); }

  // From nanoseconds to days, so that every level and the crossing between any two is met.
  std::uint64_t some_span() {
    const auto bits = 1 + random_.next_u64() % 47;
    return random_.next_u64() >> (64 - bits);
  }

  void set_randomly() {
    const int id = some_id();
    const std::uint64_t span = some_span();
    const bool is_past = random_.next_u64() % 16 == 0;
    const std::uint64_t deadline = is_past ? now_ - std::min(now_, span) : now_ + span;
    wheel_.set(alarm(id).timer, deadline);
    twin_.set(id, deadline);
    expected_.erase(id);  // Set within an advance: it must wait for the next.
    if (deadline <= now_) {
      overdue_.insert(id);
    } else {
      overdue_.erase(id);
    }
  }

  void cancel_randomly() {
    const int id = some_id();
    wheel_.cancel(alarm(id).timer);
    twin_.cancel(id);
    expected_.erase(id);
  }

  void on_fire(int id) {
    ASSERT_TRUE(expected_.contains(id)) << id << " must not fire now";
    if (!overdue_.contains(id)) {
      ASSERT_GE(twin_.deadline(id) + kTick, last_fired_) << "fired behind a later one";
      last_fired_ = std::max(last_fired_, twin_.deadline(id));
    }
    expected_.erase(id);
    twin_.cancel(id);
    if (random_.next_u64() % 2 == 0) set_randomly();
    if (random_.next_u64() % 4 == 0) cancel_randomly();
  }

  void advance() {
    now_ += random_.next_u64() % 4 == 0 ? 0 : some_span();
    last_fired_ = 0;
    // In pieces of a random budget: the wheel must go on where it stopped.
    bool is_more_due = true;
    for (int calls = 0; is_more_due; ++calls) {
      ASSERT_LT(calls, 1'000);
      expected_ = twin_.due(now_);
      is_more_due = wheel_.advance(now_, 1 + random_.next_u64() % 5);
      if (::testing::Test::HasFatalFailure()) return;
    }
    ASSERT_TRUE(twin_.due(now_).empty());
  }

  void check_next_deadline() {
    const std::uint64_t next = wheel_.next_deadline_ns();
    const std::uint64_t earliest = twin_.earliest();
    ASSERT_EQ(next == UINT64_MAX, earliest == UINT64_MAX);
    if (earliest == UINT64_MAX) return;
    ASSERT_LE(next, std::max(earliest, now_) + kTick);
    for (int id = 0; id < kAlarms; ++id) ASSERT_EQ(alarm(id).timer.is_set(), twin_.is_set(id));
  }

  SeededRandom random_;
  std::uint64_t now_;
  TimerWheel wheel_;
  std::vector<Alarm> alarms_;
  Twin twin_;
  std::set<int> expected_;  // May fire in the advance in progress.
  std::set<int> overdue_;   // Set when their deadline had passed: in no order.
  std::uint64_t last_fired_ = 0;
};

TEST(TimerWheel, AgreesWithItsNaiveTwin) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    TwinRun(seed).run(1'500);
    if (HasFatalFailure()) return;
  }
}

// Sleeping until next_deadline_ns() and no longer must reach every timer in time.
TEST(TimerWheel, SleepingFromDeadlineToDeadlineMissesNothing) {
  SeededRandom random(3);
  std::uint64_t now = 777;
  TimerWheel wheel(now);
  Alarm alarm;
  for (int round = 0; round < 2'000; ++round) {
    const std::uint64_t deadline = now + (random.next_u64() >> (17 + random.next_u64() % 40));
    wheel.set(alarm.timer, deadline);
    const int fired = alarm.fired;
    for (int wakes = 0; alarm.fired == fired; ++wakes) {
      ASSERT_LT(wakes, 200'000);
      ASSERT_GT(wheel.next_deadline_ns() + 1, now);
      now = std::max(now, wheel.next_deadline_ns());
      wheel.advance(now, kAll);
    }
    ASSERT_GE(now, deadline);
    ASSERT_LE(now, deadline + kTick);
  }
}

}  // namespace
}  // namespace gyre::runtime

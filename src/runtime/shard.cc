#include "gyre/runtime/shard.h"

#include <algorithm>

namespace gyre::runtime {
namespace {

// Lets the other hardware thread of the core run while this one polls.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace

Shard::Shard(Io& io, const Clock& clock, MeshPort& port, TimerWheel& timers, ShardProgram& program,
             Options options)
    : io_(io), clock_(clock), port_(port), timers_(timers), program_(program), options_(options) {}

Shard::Pace Shard::turn(bool may_sleep) {
  const std::uint64_t began_ns = clock_.monotonic_ns();
  bool is_busy = take_replies();
  is_busy |= take_requests();
  io_.reap();
  bool is_work_left = false;
  is_busy |= run_completions(is_work_left);
  const std::uint64_t now_ns = clock_.monotonic_ns();
  const bool has_due_timer = timers_.next_deadline_ns() <= now_ns;
  is_work_left |= timers_.advance(now_ns, kTimersPerTurn);
  is_work_left |= program_.work();
  program_.flush_connections();
  is_busy |= port_.flush(io_);
  // After the flush, which may have brought messages to ourselves.
  is_work_left |= port_.has_incoming();
  is_busy |= is_work_left || has_due_timer;
  if (is_busy) busy_until_ns_ = now_ns + options_.spin_ns;
  enter(may_sleep, is_work_left, began_ns, now_ns);
  return is_busy ? Pace::kBusy : Pace::kIdle;
}

void Shard::run() {
  while (!program_.is_finished()) turn(true);
}

bool Shard::take_replies() {
  ShardId from = 0;
  MeshSlot slot;
  std::size_t taken = 0;
  while (taken < kMessagesPerTurn && port_.try_take_reply(from, slot)) {
    program_.on_reply(from, slot);
    ++taken;
  }
  return taken > 0;
}

bool Shard::take_requests() {
  ShardId from = 0;
  MeshSlot slot;
  std::size_t taken = 0;
  // Asked before each one: the answers to the request before may have filled a ring.
  while (taken < kMessagesPerTurn && program_.can_take_request() &&
         port_.try_take_request(from, slot)) {
    program_.on_request(from, slot);
    ++taken;
  }
  return taken > 0;
}

bool Shard::run_completions(bool& are_some_left) {
  const std::uint64_t before = io_.counters().completions;
  are_some_left = io_.run(kCompletionsPerTurn);
  return io_.counters().completions != before;
}

void Shard::enter(bool may_sleep, bool is_work_left, std::uint64_t began_ns, std::uint64_t now_ns) {
  const bool is_spinning = now_ns < busy_until_ns_;
  // A program that finished in this turn may have nobody left to wake it.
  may_sleep = may_sleep && !program_.is_finished();
  // Falling asleep looks at the rings once more and may fail; see mesh.h.
  if (!may_sleep || is_work_left || is_spinning || !port_.try_fall_asleep()) {
    if (!is_work_left) relax();
    io_.enter(Io::Wait::kPoll, 0);
    program_.on_turn_end(clock_.monotonic_ns() - began_ns);
    return;
  }
  program_.on_turn_end(clock_.monotonic_ns() - began_ns);
  io_.enter(Io::Wait::kSleep, std::min(timers_.next_deadline_ns(), program_.next_due_ns()));
  port_.wake_up();
}

}  // namespace gyre::runtime

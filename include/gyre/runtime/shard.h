// Shard: one core's loop. What a turn does, in this order, and why:
//
//   1. take replies      first, because they free what others wait for and can always be taken
//   2. take requests     as long as the answers have room; bounded by kMessagesPerTurn
//   3. reap completions  into a list, calling nothing, so that the batch of this turn is known
//   4. run completions   bounded by kCompletionsPerTurn; sockets are read here
//   5. fire timers       after the input, so that a ping answered in time is not called late
//   6. work              the program's own steps: verify the waiting signatures, resume paused
//   scans
//                        for their slice, hand the commit batch to the log writer
//   7. flush connections one send for each dirty connection, after everything that writes to them
//   8. flush the mesh    one release store a ring, one fence, at most one wake-up a destination
//   9. enter the ring    one system call: submits it all; sleeps only if nothing is left to do
//
// Every step is bounded, so no peer, shard or timer can keep the others from their turn.
#pragma once

#include <cstdint>

#include "gyre/base/clock.h"
#include "gyre/runtime/io.h"
#include "gyre/runtime/mesh.h"
#include "gyre/runtime/timer_wheel.h"

namespace gyre::runtime {

// What runs on a shard. All calls come from the shard's turn.
class ShardProgram {
 public:
  virtual ~ShardProgram() = default;
  // Requires of the program: on_reply sends nothing through the mesh but requests it can delay.
  virtual void on_reply(ShardId from, const MeshSlot& slot) = 0;
  // False while a request could not be answered for want of room.
  [[nodiscard]] virtual bool can_take_request() = 0;
  virtual void on_request(ShardId from, const MeshSlot& slot) = 0;
  // Step 6. True if work remains, so the shard must not sleep.
  [[nodiscard]] virtual bool work() = 0;
  // When work() has something to do again, whatever happens until then (monotonic ns): for
  // what is too fine for the timer wheel's tick. Asked before the shard sleeps.
  [[nodiscard]] virtual std::uint64_t next_due_ns() const { return UINT64_MAX; }
  // Step 7.
  virtual void flush_connections() = 0;
  // How long the turn took, without its sleep: what everybody else on the shard had to wait for it.
  virtual void on_turn_end(std::uint64_t /*turn_ns*/) {}
  // True when the program is done and the loop should end.
  [[nodiscard]] virtual bool is_finished() const = 0;
};

class Shard {
 public:
  static constexpr std::size_t kMessagesPerTurn = 256;
  static constexpr std::size_t kCompletionsPerTurn = 256;
  static constexpr std::size_t kTimersPerTurn = 256;

  // How long to poll before sleeping once there is nothing to do; 0 on shared hosts.
  struct Options {
    std::uint64_t spin_ns = 0;
  };

  // All arguments outlive the shard.
  Shard(Io& io, const Clock& clock, MeshPort& port, TimerWheel& timers, ShardProgram& program,
        Options options);

  enum class Pace : std::uint8_t { kBusy, kIdle };
  // One turn. kIdle: it found nothing to do and left nothing. With may_sleep it sleeps at its end
  // if nothing is left, whatever it did before.
  Pace turn(bool may_sleep);

  // Turns until the program is finished.
  void run();

 private:
  // True if it did anything.
  bool take_replies();
  bool take_requests();
  bool run_completions(bool& are_some_left);
  void enter(bool may_sleep, bool is_work_left, std::uint64_t began_ns, std::uint64_t now_ns);

  Io& io_;
  const Clock& clock_;
  MeshPort& port_;
  TimerWheel& timers_;
  ShardProgram& program_;
  Options options_;
  std::uint64_t busy_until_ns_ = 0;
};

}  // namespace gyre::runtime

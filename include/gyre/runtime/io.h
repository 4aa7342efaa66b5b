// Io: what a shard may ask of the kernel, and how it hears back.
//
// The production Io is io_uring (src/runtime/uring_io.h): one ring for each shard, created in the
// shard's own thread. Simulations use test/support/sim_io.h. Every method except waker() belongs to
// the owning shard's thread.
//
// Operations complete through a Completion that is a member of whoever started them. An owner must
// stay alive while any of its completions is armed; it learns the end of an operation from the last
// call of the handler, the one with `more == false`. Handlers never run inside a submit call.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "gyre/base/ids.h"
#include "gyre/runtime/address.h"

namespace gyre::runtime {

struct CompletionResult {
  std::int32_t result = 0;  // Bytes, a descriptor, or -errno; 0 from a receive is the peer's end.
  // The operation is still armed and will complete again. The last call, too, may bring bytes or a
  // descriptor when it ends a cancelled operation.
  bool more = false;
  // Receive only: what arrived. May be changed in place; gone when the handler returns. At least
  // kReceivePadding readable bytes follow it.
  std::span<std::uint8_t> bytes;
};

struct Completion {
  using Handler = void (*)(void* owner, const CompletionResult& result);
  void* owner = nullptr;
  Handler handler = nullptr;
  bool is_armed = false;  // Kept by Io: between submit and the call with more == false.

  // The Io's own; owners neither read nor write what follows.
  enum class Operation : std::uint8_t { kNone, kAccept, kReceive, kSend, kRead };
  Operation operation = Operation::kNone;
  bool is_cancelled = false;
  // Ended in the kernel, but not for the owner: Io arms it again.
  bool is_waiting_to_rearm = false;
  bool has_more_input = false;  // The socket held more bytes when a receive completed last.
  std::int32_t descriptor = -1;
};

// Numbers of one Io, ever rising.
struct IoCounters {
  std::uint64_t completions = 0;       // Handler calls.
  std::uint64_t enters = 0;            // System calls that submit or wait.
  std::uint64_t buffer_shortages = 0;  // Receives that waited for a buffer.
  std::uint64_t queue_overflows = 0;   // Turns that found more completions than the ring holds.
};

// Makes a Completion whose handler is a member function: bind<&Connection::on_recv>(*this).
template <auto Method, typename Owner>
[[nodiscard]] Completion bind(Owner& owner) {
  return {&owner, [](void* pointer, const CompletionResult& result) {
            (static_cast<Owner*>(pointer)->*Method)(result);
          }};
}

// Wakes a shard from any thread. The wake-up is remembered until the shard's next turn.
class Waker {
 public:
  virtual ~Waker() = default;
  virtual void wake() = 0;
};

class Io {
 public:
  static constexpr std::size_t kReceivePadding = 64;

  virtual ~Io() = default;

  // Accepts until cancelled or an error ends it: each result is a descriptor that the caller owns.
  // Descriptors run out (-EMFILE, -ENFILE): the caller re-arms later, by a timer.
  virtual void submit_accept(int listener, Completion& completion) = 0;

  // Receives until cancelled, the peer's end, an error, or a shortage of buffers. The last is
  // hidden: Io re-arms by itself once buffers are back, and the owner never sees ENOBUFS.
  virtual void submit_recv(int socket, Completion& completion) = 0;

  // Sends all slices, in order (MSG_WAITALL); one completion with the bytes sent or -errno. A count
  // short of the sum means that the connection broke. `slices` and what they point to must live
  // until then. At most one send in flight for each socket. Requires: 1 to kSendSlicesMax slices.
  static constexpr std::size_t kSendSlicesMax = 64;
  virtual void submit_send(int socket, std::span<const iovec> slices, Completion& completion) = 0;

  // Reads from a file at `offset` into `out`; one completion with the bytes read or -errno. A count
  // short of out.size() is the end of the file, or an interruption: the owner reads on or gives up.
  // `out` must live until then, and the descriptor stay open until the end of the turn. What the
  // page cache has is there after the next enter; for what it lacks nobody waits. The owner bounds
  // how many are under way.
  virtual void submit_read(int file, std::uint64_t offset, std::span<std::uint8_t> out,
                           Completion& completion) = 0;

  // Asks an armed operation to end; its completion comes, maybe after others already on their way.
  // Nothing happens to one that is not armed. A send may still run to its end if the peer reads.
  virtual void cancel(Completion& completion) = 0;

  // shutdown(2) both ways: ends an armed receive (result 0) and a send in flight.
  virtual void shutdown(int socket) = 0;
  // Requires: no completion of this descriptor is armed.
  virtual void close(int descriptor) = 0;

  [[nodiscard]] virtual Address peer_address(int socket) = 0;

  // Wakes another shard with the next enter (message ring).
  virtual void wake(ShardId shard) = 0;
  // For threads that are no shards. Lives as long as the Io.
  [[nodiscard]] virtual Waker& waker() = 0;

  // The steps of a turn (runtime/shard.h), in this order.

  // Moves visible completions to a list; runs nothing.
  virtual void reap() = 0;
  // Runs at most `budget` reaped completions; true if some remain.
  virtual bool run(std::size_t budget) = 0;
  // Submits everything queued. kPoll looks for completions without waiting; kSleep waits for one,
  // for a wake-up or for the deadline (monotonic ns; UINT64_MAX: none), whichever is first.
  enum class Wait : std::uint8_t { kPoll, kSleep };
  virtual void enter(Wait wait, std::uint64_t deadline_ns) = 0;

  [[nodiscard]] virtual IoCounters counters() const { return {}; }
};

}  // namespace gyre::runtime

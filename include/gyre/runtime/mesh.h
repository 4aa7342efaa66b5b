// The mesh: two SPSC rings for every ordered pair of shards, and the protocol that wakes a sleeper.
//
// A *request* asks a shard for work that may produce messages; a *reply* (an answer or a published
// event) produces none. Therefore replies can always be taken, whatever is full elsewhere, and a
// shard takes a request only while every reply ring it may need has room: no cycle of full rings
// can form. Rings are FIFO, and a shard's messages to itself take the same way as all others.
//
// Full means false from try_send_*: the caller keeps what it has and stops what feeds it.
//
// Waking. A shard that goes to sleep stores its flag, then looks at its rings once more; a sender
// publishes, then looks at the flag. A seq_cst fence stands between the two steps on both sides, so
// that at least one of them sees the other. The sender that clears the flag wakes, once per sleep.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "gyre/base/ids.h"
#include "gyre/base/spsc_ring.h"
#include "gyre/runtime/io.h"

namespace gyre::runtime {

// One message: opaque here, given its meaning by relay/messages.h.
struct alignas(64) MeshSlot {
  std::array<std::byte, 64> bytes;
};

class Mesh {
 public:
  Mesh(std::uint32_t shard_count, std::size_t request_slots, std::size_t reply_slots);

  [[nodiscard]] std::uint32_t shard_count() const { return shard_count_; }
  // Memory of all rings, for the sum that is logged at start.
  [[nodiscard]] std::size_t memory_bytes() const;

 private:
  friend class MeshPort;
  struct Pair {
    Pair(std::size_t request_slots, std::size_t reply_slots);
    SpscRing<MeshSlot> requests;
    SpscRing<MeshSlot> replies;
  };
  struct alignas(128) Sleeper {
    std::atomic<bool> is_sleeping{false};
  };
  [[nodiscard]] Pair& pair(ShardId from, ShardId to) {
    return *pairs_[std::size_t{from} * shard_count_ + to];
  }

  std::uint32_t shard_count_;
  std::size_t slots_per_pair_;
  std::vector<std::unique_ptr<Pair>> pairs_;  // [from * shard_count + to]
  std::unique_ptr<Sleeper[]> sleepers_;
};

// One shard's end of the mesh; only that shard calls it.
class MeshPort {
 public:
  MeshPort(Mesh& mesh, ShardId self);

  [[nodiscard]] ShardId self() const { return self_; }
  [[nodiscard]] std::uint32_t shard_count() const { return mesh_.shard_count(); }

  [[nodiscard]] bool try_send_request(ShardId to, const MeshSlot& slot);
  [[nodiscard]] bool try_send_reply(ShardId to, const MeshSlot& slot);
  [[nodiscard]] bool has_request_room(ShardId to, std::size_t slots);
  // True if every shard's reply ring has room for `slots` more.
  [[nodiscard]] bool has_reply_room_everywhere(std::size_t slots);

  // Takes one message, sources in turn; false if there is none.
  [[nodiscard]] bool try_take_request(ShardId& from, MeshSlot& slot);
  [[nodiscard]] bool try_take_reply(ShardId& from, MeshSlot& slot);
  [[nodiscard]] bool has_incoming() const;

  // Makes all sent messages visible: one release store for each ring used, one fence in all, and
  // one io.wake() for each destination that slept. True if anything was sent.
  bool flush(Io& io);

  // True if the shard may sleep now; false if a message came in the meantime.
  [[nodiscard]] bool try_fall_asleep();
  void wake_up();  // Clears the flag after sleeping.

 private:
  [[nodiscard]] SpscRing<MeshSlot>& requests_to(ShardId to) {
    return mesh_.pair(self_, to).requests;
  }
  [[nodiscard]] SpscRing<MeshSlot>& replies_to(ShardId to) { return mesh_.pair(self_, to).replies; }
  void mark_dirty(ShardId to);

  Mesh& mesh_;
  ShardId self_;
  ShardId next_request_source_ = 0;
  ShardId next_reply_source_ = 0;
  std::vector<bool> is_dirty_;  // Destinations with unpublished messages,
  std::vector<ShardId> dirty_;  // and the same as a list, so that flush() need not search.
};

}  // namespace gyre::runtime

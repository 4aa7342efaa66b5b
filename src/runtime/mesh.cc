#include "gyre/runtime/mesh.h"

#include <type_traits>

#include "gyre/base/assert.h"

namespace gyre::runtime {
namespace {

static_assert(sizeof(MeshSlot) == 64 && std::is_trivially_copyable_v<MeshSlot>);

}  // namespace

Mesh::Pair::Pair(std::size_t request_slots, std::size_t reply_slots)
    : requests(request_slots), replies(reply_slots) {}

Mesh::Mesh(std::uint32_t shard_count, std::size_t request_slots, std::size_t reply_slots)
    : shard_count_(shard_count),
      slots_per_pair_(request_slots + reply_slots),
      sleepers_(std::make_unique<Sleeper[]>(shard_count)) {
  GYRE_ASSERT_CMP(shard_count, >, 0u);
  GYRE_ASSERT_CMP(shard_count, <=, kShardsMax);
  const std::size_t pair_count = std::size_t{shard_count} * shard_count;
  pairs_.reserve(pair_count);
  for (std::size_t i = 0; i < pair_count; ++i) {
    pairs_.push_back(std::make_unique<Pair>(request_slots, reply_slots));
  }
}

std::size_t Mesh::memory_bytes() const {
  return pairs_.size() * (sizeof(Pair) + slots_per_pair_ * sizeof(MeshSlot)) +
         shard_count_ * sizeof(Sleeper);
}

MeshPort::MeshPort(Mesh& mesh, ShardId self)
    : mesh_(mesh), self_(self), is_dirty_(mesh.shard_count(), false) {
  GYRE_ASSERT_CMP(self, <, mesh.shard_count());
  dirty_.reserve(mesh.shard_count());
}

void MeshPort::mark_dirty(ShardId to) {
  if (is_dirty_[to]) return;
  is_dirty_[to] = true;
  dirty_.push_back(to);
}

bool MeshPort::try_send_request(ShardId to, const MeshSlot& slot) {
  if (!requests_to(to).try_push(slot)) return false;
  mark_dirty(to);
  return true;
}

bool MeshPort::try_send_reply(ShardId to, const MeshSlot& slot) {
  if (!replies_to(to).try_push(slot)) return false;
  mark_dirty(to);
  return true;
}

bool MeshPort::has_request_room(ShardId to, std::size_t slots) {
  return requests_to(to).room(slots) >= slots;
}

bool MeshPort::has_reply_room_everywhere(std::size_t slots) {
  for (std::uint32_t to = 0; to < mesh_.shard_count(); ++to) {
    if (replies_to(static_cast<ShardId>(to)).room(slots) < slots) return false;
  }
  return true;
}

bool MeshPort::try_take_request(ShardId& from, MeshSlot& slot) {
  const std::uint32_t count = mesh_.shard_count();
  for (std::uint32_t tried = 0; tried < count; ++tried) {
    const ShardId source = next_request_source_;
    next_request_source_ = static_cast<ShardId>(source + 1u == count ? 0 : source + 1);
    if (mesh_.pair(source, self_).requests.try_pop(slot)) {
      from = source;
      return true;
    }
  }
  return false;
}

bool MeshPort::try_take_reply(ShardId& from, MeshSlot& slot) {
  const std::uint32_t count = mesh_.shard_count();
  for (std::uint32_t tried = 0; tried < count; ++tried) {
    const ShardId source = next_reply_source_;
    next_reply_source_ = static_cast<ShardId>(source + 1u == count ? 0 : source + 1);
    if (mesh_.pair(source, self_).replies.try_pop(slot)) {
      from = source;
      return true;
    }
  }
  return false;
}

bool MeshPort::has_incoming() const {
  for (std::uint32_t i = 0; i < mesh_.shard_count(); ++i) {
    const Mesh::Pair& from = mesh_.pair(static_cast<ShardId>(i), self_);
    if (!from.replies.empty() || !from.requests.empty()) return true;
  }
  return false;
}

bool MeshPort::flush(Io& io) {
  if (dirty_.empty()) return false;
  for (const ShardId to : dirty_) {
    requests_to(to).publish();
    replies_to(to).publish();
    is_dirty_[to] = false;
  }
  // Orders the tails stored above before the flags loaded below; its partner is the fence of
  // try_fall_asleep(). Either this side sees the flag, or the sleeper sees the message.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (const ShardId to : dirty_) {
    std::atomic<bool>& is_sleeping = mesh_.sleepers_[to].is_sleeping;
    // The load keeps the line shared while nobody sleeps. Of several senders that see the flag the
    // exchange picks one: a sleeper is woken once. acq_rel: the wake-up follows the clearing.
    if (is_sleeping.load(std::memory_order_relaxed) &&
        is_sleeping.exchange(false, std::memory_order_acq_rel)) {
      io.wake(to);
    }
  }
  dirty_.clear();
  return true;
}

bool MeshPort::try_fall_asleep() {
  std::atomic<bool>& is_sleeping = mesh_.sleepers_[self_].is_sleeping;
  is_sleeping.store(true, std::memory_order_relaxed);
  // Orders the flag stored above before the tails loaded below; its partner is the fence of
  // flush().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!has_incoming()) return true;
  is_sleeping.store(false, std::memory_order_relaxed);
  return false;
}

void MeshPort::wake_up() {
  mesh_.sleepers_[self_].is_sleeping.store(false, std::memory_order_relaxed);
}

}  // namespace gyre::runtime

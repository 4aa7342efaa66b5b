// SpscRing: a bounded queue between exactly one producer thread and one consumer thread.
//
// Items are trivially copyable. The producer writes slots privately and makes them visible together
// with publish(), so a whole batch costs one release store. Each side caches the other's index and
// rereads it only when the ring looks full (or empty): most operations touch no shared line.
//
// try_push is false when the ring is full; the caller keeps the item and stops whatever feeds it.
// Nothing here waits, allocates after construction, or wakes anybody (see runtime/mesh.h).
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <memory>
#include <type_traits>

#include "gyre/base/assert.h"

namespace gyre {

template <typename T>
class SpscRing {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  // Requires: slot_count is a power of two.
  explicit SpscRing(std::size_t slot_count)
      : mask_(slot_count - 1), slots_(std::make_unique<T[]>(slot_count)) {
    GYRE_ASSERT(std::has_single_bit(slot_count));
  }
  SpscRing(const SpscRing&) = delete;
  SpscRing& operator=(const SpscRing&) = delete;

  // Producer side.

  // Free slots, at least; exact when it matters (a stale count is refreshed when below `needed`).
  [[nodiscard]] std::size_t room(std::size_t needed) {
    const std::size_t capacity = mask_ + 1;
    std::size_t free = capacity - (producer_.pending - producer_.cached_head);
    if (free < needed) {
      // Pairs with the consumer's release store in pop: the slots it freed are ours to overwrite.
      producer_.cached_head = consumer_.head.load(std::memory_order_acquire);
      free = capacity - (producer_.pending - producer_.cached_head);
    }
    return free;
  }

  [[nodiscard]] bool try_push(const T& item) {
    if (room(1) == 0) return false;
    slots_[producer_.pending & mask_] = item;
    ++producer_.pending;
    return true;
  }

  // Makes everything pushed so far visible; true if that was anything.
  bool publish() {
    if (producer_.tail.load(std::memory_order_relaxed) == producer_.pending) return false;
    // Pairs with the consumer's acquire load of tail: slots are written before they are seen.
    producer_.tail.store(producer_.pending, std::memory_order_release);
    return true;
  }

  // Consumer side.

  [[nodiscard]] bool try_pop(T& item) {
    const std::size_t head = consumer_.head.load(std::memory_order_relaxed);
    if (head == consumer_.cached_tail) {
      consumer_.cached_tail = producer_.tail.load(std::memory_order_acquire);
      if (head == consumer_.cached_tail) return false;
    }
    item = slots_[head & mask_];
    consumer_.head.store(head + 1, std::memory_order_release);
    return true;
  }

  // True if nothing published is waiting. Only the consumer may rely on `false` staying so.
  [[nodiscard]] bool empty() const {
    return consumer_.head.load(std::memory_order_relaxed) ==
           producer_.tail.load(std::memory_order_acquire);
  }

 private:
  // 128: adjacent-line prefetch makes pairs of cache lines travel together on x86.
  struct alignas(128) Producer {
    std::atomic<std::size_t> tail{0};
    std::size_t pending = 0;  // Written but not yet published.
    std::size_t cached_head = 0;
  };
  struct alignas(128) Consumer {
    std::atomic<std::size_t> head{0};
    std::size_t cached_tail = 0;
  };

  const std::size_t mask_;
  const std::unique_ptr<T[]> slots_;
  Producer producer_;
  Consumer consumer_;
};

}  // namespace gyre

// BufferRing: the receive buffers of one shard, which the kernel picks from when bytes arrive.
//
// A buffer is the kernel's until a completion names it, then ours until give_back(); what was given
// back becomes the kernel's again with publish(). The buffers lie end to end with
// Io::kReceivePadding readable bytes behind the last, so a parser may read over any end.
#pragma once

#include <liburing.h>

#include <cstdint>
#include <span>

#include "gyre/runtime/io.h"

namespace gyre::runtime {

class BufferRing {
 public:
  // The one group of a ring.
  static constexpr std::uint16_t kGroup = 0;

  BufferRing() = default;
  BufferRing(const BufferRing&) = delete;
  BufferRing& operator=(const BufferRing&) = delete;
  ~BufferRing();

  // 0 or -errno. Requires: `count` is a power of two up to 32768, and `ring` goes first.
  [[nodiscard]] int open(io_uring& ring, std::uint32_t count, std::uint32_t buffer_bytes);

  [[nodiscard]] std::uint32_t count() const { return count_; }
  [[nodiscard]] std::span<std::uint8_t> bytes(std::uint16_t id, std::size_t size);

  // To be told when a completion brings a buffer, so that available_count() is true.
  void on_taken() { ++taken_; }
  void give_back(std::uint16_t id);
  void publish();
  // Buffers that no completion seen so far holds.
  [[nodiscard]] std::uint32_t available_count() const { return count_ - taken_; }

 private:
  void add(std::uint16_t id);

  io_uring_buf_ring* ring_ = nullptr;  // The mapping begins here; the buffers follow.
  std::uint8_t* buffers_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t buffer_bytes_ = 0;
  std::uint32_t taken_ = 0;
  std::uint16_t unpublished_ = 0;
};

}  // namespace gyre::runtime

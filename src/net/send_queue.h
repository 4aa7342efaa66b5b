// SendQueue: what one connection has yet to send, and the buffers that all queues of a shard share.
//
// Small parts are copied one behind the other into chunks, so that a turn's frames leave as one
// slice; large bodies are referenced. Memory is borrowed from SendBuffers while anything is queued
// and given back when nothing is: an idle connection has no queue at all.
//
// One send at a time: begin_send() fixes the first slices, what is appended meanwhile stands
// behind them, end_send() lets them go.
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "gyre/base/shared_bytes.h"

namespace gyre::net {

class SendBuffers;

class SendQueue {
 public:
  // One send covers at most this much (but always a whole slice): limits.send_timeout_s is the time
  // that one send may take, so this is what a slow but honest client must manage within it. 256 KiB
  // in 30 s is 9 KiB/s.
  static constexpr std::size_t kSendBytesMax = 256 * 1024;

  explicit SendQueue(SendBuffers& buffers) : buffers_(buffers) {}
  // A pool may end with sends under way, whose completions are not delivered then (connection.h).
  ~SendQueue() {
    if (is_in_flight()) end_send();
    clear();
  }
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  // Says how many bytes the next calls of append() bring, so that they get a chunk of a fit size.
  void expect(std::size_t bytes) { expected_bytes_ = std::max(expected_bytes_, bytes); }
  void append(std::string_view bytes);
  // The same for `size` bytes that the caller writes where this says; null if the chunk at hand has
  // no room for all of them.
  [[nodiscard]] std::uint8_t* try_extend(std::size_t size);
  // `body` lies within `owner`.
  void append_shared(std::string_view body, const SharedBytes& owner);

  [[nodiscard]] bool is_empty() const { return queued_bytes_ == 0; }
  [[nodiscard]] std::uint64_t queued_bytes() const { return queued_bytes_; }  // In flight included.
  [[nodiscard]] bool is_in_flight() const { return slices_in_flight_ > 0; }
  [[nodiscard]] std::uint64_t bytes_in_flight() const { return bytes_in_flight_; }

  // Requires: not empty, nothing in flight. The slices stand until end_send().
  [[nodiscard]] std::span<const iovec> begin_send();
  void end_send();
  // Drops everything. Requires: nothing in flight.
  void clear();

 private:
  struct Chunk;
  friend class SendBuffers;
  struct Slice {
    const std::uint8_t* bytes = nullptr;
    std::size_t size = 0;
    Chunk* chunk = nullptr;  // Where it lies, or null for a body.
    SharedBytes body;
  };

  void start_chunk();
  void extend(std::uint8_t* place, std::size_t size);
  void let_go(Slice& slice);

  SendBuffers& buffers_;
  std::vector<Slice> slices_;
  std::size_t first_ = 0;  // Slices before it have been sent.
  std::size_t slices_in_flight_ = 0;
  std::uint64_t bytes_in_flight_ = 0;
  std::uint64_t queued_bytes_ = 0;
  std::size_t expected_bytes_ = 0;
  Chunk* tail_ = nullptr;  // The chunk that append() fills.
  absl::InlinedVector<iovec, 4> vectors_;
};

// Free lists of one shard: chunks by size, and queues. Bounded; what does not fit is freed.
class SendBuffers {
 public:
  // Most turns bring a connection one small frame or two, so that thousands of busy subscribers
  // should cost 1 KiB each; a queue that grows takes larger chunks. The largest holds what is
  // gathered of a busy live stream, so that it leaves as one slice.
  static constexpr std::array<std::size_t, 4> kChunkBytes = {1024, 4096, 16 * 1024, 64 * 1024};
  static constexpr std::size_t kKeptBytesMax = 4 * 1024 * 1024;  // Of each size of chunk.
  static constexpr std::size_t kKeptQueuesMax = 4096;

  SendBuffers() = default;
  ~SendBuffers();
  SendBuffers(const SendBuffers&) = delete;
  SendBuffers& operator=(const SendBuffers&) = delete;

  [[nodiscard]] std::unique_ptr<SendQueue> take_queue();
  void give_back(std::unique_ptr<SendQueue> queue);  // Requires: nothing in flight.
  // Of chunks and queues lent out.
  [[nodiscard]] std::size_t lent_bytes() const { return lent_bytes_; }

 private:
  friend class SendQueue;
  struct FreeList {
    SendQueue::Chunk* first = nullptr;
    std::size_t count = 0;
  };
  [[nodiscard]] SendQueue::Chunk* take_chunk(std::size_t size_class);
  void give_back(SendQueue::Chunk* chunk);

  std::array<FreeList, kChunkBytes.size()> chunks_;
  std::vector<std::unique_ptr<SendQueue>> queues_;
  std::size_t lent_bytes_ = 0;
};

}  // namespace gyre::net

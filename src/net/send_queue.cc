#include "net/send_queue.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/runtime/io.h"

namespace gyre::net {

struct SendQueue::Chunk {
  Chunk* next = nullptr;  // In a free list.
  std::uint32_t size_class = 0;
  std::uint32_t capacity = 0;
  std::uint32_t used = 0;
  std::uint32_t slices = 0;  // Queued ones that lie here.

  [[nodiscard]] std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this + 1); }
};

void SendQueue::append(std::string_view bytes) {
  queued_bytes_ += bytes.size();
  while (!bytes.empty()) {
    if (tail_ == nullptr || tail_->used == tail_->capacity) start_chunk();
    const std::size_t size = std::min<std::size_t>(bytes.size(), tail_->capacity - tail_->used);
    std::uint8_t* const place = tail_->bytes() + tail_->used;
    std::memcpy(place, bytes.data(), size);
    tail_->used += static_cast<std::uint32_t>(size);
    extend(place, size);
    bytes.remove_prefix(size);
    expected_bytes_ -= std::min(expected_bytes_, size);
  }
}

std::uint8_t* SendQueue::try_extend(std::size_t size) {
  if (tail_ == nullptr || tail_->used == tail_->capacity) start_chunk();
  if (tail_->capacity - tail_->used < size) return nullptr;
  std::uint8_t* const place = tail_->bytes() + tail_->used;
  tail_->used += static_cast<std::uint32_t>(size);
  extend(place, size);
  queued_bytes_ += size;
  expected_bytes_ -= std::min(expected_bytes_, size);
  return place;
}

void SendQueue::append_shared(std::string_view body, const SharedBytes& owner) {
  if (body.empty()) return;
  queued_bytes_ += body.size();
  Slice slice;
  slice.bytes = reinterpret_cast<const std::uint8_t*>(body.data());
  slice.size = body.size();
  slice.body = owner;
  slices_.push_back(std::move(slice));
}

void SendQueue::start_chunk() {
  std::size_t size_class = 0;
  if (tail_ != nullptr) {
    // Full, and the queue is still growing.
    size_class = std::min<std::size_t>(tail_->size_class + 1, SendBuffers::kChunkBytes.size() - 1);
    if (tail_->slices == 0) buffers_.give_back(tail_);
  }
  while (size_class + 1 < SendBuffers::kChunkBytes.size() &&
         SendBuffers::kChunkBytes[size_class] < expected_bytes_ + sizeof(Chunk)) {
    ++size_class;
  }
  tail_ = buffers_.take_chunk(size_class);
}

// Lengthens the last slice if the bytes follow it and it is not with the kernel yet.
void SendQueue::extend(std::uint8_t* place, std::size_t size) {
  if (slices_.size() > first_ + slices_in_flight_) {
    Slice& last = slices_.back();
    if (last.chunk == tail_ && last.bytes + last.size == place) {
      last.size += size;
      return;
    }
  }
  Slice slice;
  slice.bytes = place;
  slice.size = size;
  slice.chunk = tail_;
  ++tail_->slices;
  slices_.push_back(std::move(slice));
}

std::span<const iovec> SendQueue::begin_send() {
  GYRE_ASSERT(!is_in_flight());
  GYRE_ASSERT(!is_empty());
  vectors_.clear();
  for (std::size_t index = first_; index < slices_.size(); ++index) {
    const Slice& slice = slices_[index];
    const bool is_enough = vectors_.size() == runtime::Io::kSendSlicesMax ||
                           bytes_in_flight_ + slice.size > kSendBytesMax;
    if (is_enough && !vectors_.empty()) break;
    vectors_.push_back({const_cast<std::uint8_t*>(slice.bytes), slice.size});
    bytes_in_flight_ += slice.size;
  }
  slices_in_flight_ = vectors_.size();
  expected_bytes_ = 0;
  return {vectors_.data(), vectors_.size()};
}

void SendQueue::end_send() {
  GYRE_ASSERT(is_in_flight());
  for (; slices_in_flight_ > 0; --slices_in_flight_) let_go(slices_[first_++]);
  GYRE_ASSERT_CMP(bytes_in_flight_, <=, queued_bytes_);
  queued_bytes_ -= bytes_in_flight_;
  bytes_in_flight_ = 0;
  // Moves what is left to the front once that is the smaller part: each slice moves at most once
  // for every slice sent.
  if (first_ * 2 >= slices_.size()) {
    slices_.erase(slices_.begin(), slices_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
}

void SendQueue::let_go(Slice& slice) {
  slice.body = SharedBytes();
  if (slice.chunk == nullptr) return;
  Chunk* const chunk = std::exchange(slice.chunk, nullptr);
  if (--chunk->slices > 0) return;
  if (chunk == tail_) {
    chunk->used = 0;
  } else {
    buffers_.give_back(chunk);
  }
}

void SendQueue::clear() {
  GYRE_ASSERT(!is_in_flight());
  for (; first_ < slices_.size(); ++first_) let_go(slices_[first_]);
  slices_.clear();
  first_ = 0;
  queued_bytes_ = 0;
  expected_bytes_ = 0;
  if (tail_ != nullptr) buffers_.give_back(std::exchange(tail_, nullptr));
}

SendBuffers::~SendBuffers() {
  queues_.clear();
  for (FreeList& list : chunks_) {
    while (list.first != nullptr) std::free(std::exchange(list.first, list.first->next));
  }
}

std::unique_ptr<SendQueue> SendBuffers::take_queue() {
  lent_bytes_ += sizeof(SendQueue);
  if (queues_.empty()) return std::make_unique<SendQueue>(*this);
  auto queue = std::move(queues_.back());
  queues_.pop_back();
  return queue;
}

void SendBuffers::give_back(std::unique_ptr<SendQueue> queue) {
  queue->clear();
  lent_bytes_ -= sizeof(SendQueue);
  // A queue that has been long keeps a long table; better start the next one small.
  constexpr std::size_t kKeptSlicesMax = 64;
  const bool is_small = queue->slices_.capacity() <= kKeptSlicesMax;
  if (is_small && queues_.size() < kKeptQueuesMax) queues_.push_back(std::move(queue));
}

SendQueue::Chunk* SendBuffers::take_chunk(std::size_t size_class) {
  const std::size_t bytes = kChunkBytes[size_class];
  lent_bytes_ += bytes;
  FreeList& list = chunks_[size_class];
  SendQueue::Chunk* chunk = list.first;
  if (chunk != nullptr) {
    list.first = chunk->next;
    --list.count;
  } else {
    void* const memory = std::malloc(bytes);
    GYRE_ASSERT(memory != nullptr);
    chunk = new (memory) SendQueue::Chunk;
    chunk->size_class = static_cast<std::uint32_t>(size_class);
    chunk->capacity = static_cast<std::uint32_t>(bytes - sizeof(SendQueue::Chunk));
  }
  chunk->used = 0;
  chunk->slices = 0;
  return chunk;
}

void SendBuffers::give_back(SendQueue::Chunk* chunk) {
  const std::size_t bytes = kChunkBytes[chunk->size_class];
  lent_bytes_ -= bytes;
  FreeList& list = chunks_[chunk->size_class];
  if (list.count * bytes >= kKeptBytesMax) {
    std::free(chunk);
    return;
  }
  chunk->next = list.first;
  list.first = chunk;
  ++list.count;
}

}  // namespace gyre::net

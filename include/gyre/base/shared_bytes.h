// SharedBytes: immutable bytes that several shards read, counted by one atomic.
//
// Filled once by its maker, then only read. Copying a handle costs one atomic increment, so a shard
// takes one handle for an event and lends views of it to its connections for as long as it matches;
// only a body that is sent by reference keeps a handle of its own.
//
// The last handle frees the block wherever that happens to be: mimalloc puts a block freed by
// another thread on the list of the page it came from, so the memory goes home by itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/bytes.h"

namespace gyre {

class SharedBytes {
 public:
  SharedBytes() = default;
  SharedBytes(const SharedBytes& other) : block_(other.block_) { retain(); }
  SharedBytes(SharedBytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedBytes& operator=(SharedBytes other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~SharedBytes() { release(); }

  [[nodiscard]] static SharedBytes copy_of(ByteSpan bytes);

  [[nodiscard]] bool is_null() const { return block_ == nullptr; }
  [[nodiscard]] const std::uint8_t* data() const { return block_->bytes(); }
  [[nodiscard]] std::uint32_t size() const { return block_->size; }
  [[nodiscard]] ByteSpan span() const { return {data(), size()}; }

  // For messages between shards, which must be trivially copyable: detach() gives up the handle
  // without releasing it, adopt() takes it up again on the other side. Each exactly once.
  struct Block;
  [[nodiscard]] Block* detach() { return std::exchange(block_, nullptr); }
  [[nodiscard]] static SharedBytes adopt(Block* block) { return SharedBytes(block); }

  struct Block {
    std::atomic<std::uint32_t> references;
    std::uint32_t size;
    [[nodiscard]] std::uint8_t* bytes() { return reinterpret_cast<std::uint8_t*>(this + 1); }
  };

 private:
  explicit SharedBytes(Block* block) : block_(block) {}
  void retain() {
    // Relaxed: whoever copies a handle holds one already.
    if (block_ != nullptr) block_->references.fetch_add(1, std::memory_order_relaxed);
  }
  void release() {
    // acq_rel: every reader's last use happens before the free.
    if (block_ != nullptr && block_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      block_->~Block();
      std::free(block_);
    }
  }

  Block* block_ = nullptr;
};

// Bytes that grow at their end and become SharedBytes where they lie.
class SharedBytesWriter {
 public:
  SharedBytesWriter() = default;
  SharedBytesWriter(SharedBytesWriter&& other) noexcept
      : block_(std::exchange(other.block_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  SharedBytesWriter& operator=(SharedBytesWriter&& other) noexcept;
  ~SharedBytesWriter() { clear(); }

  [[nodiscard]] std::uint32_t size() const { return size_; }
  // Room for `bytes` more, for the caller to fill.
  [[nodiscard]] std::uint8_t* extend(std::uint32_t bytes) {
    if (block_ == nullptr || capacity_ - size_ < bytes) grow(bytes);
    std::uint8_t* const place = block_->bytes() + size_;
    size_ += bytes;
    return place;
  }
  // What has been written, null if nothing; the writer is empty then.
  [[nodiscard]] SharedBytes take();
  void clear();

 private:
  void grow(std::uint32_t bytes);

  SharedBytes::Block* block_ = nullptr;  // Not before extend().
  std::uint32_t size_ = 0;
  std::uint32_t capacity_ = 0;
};

}  // namespace gyre

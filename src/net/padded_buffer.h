// PaddedBuffer: received bytes set aside, with readable bytes behind them.
//
// Grows geometrically from what has arrived, never from what a peer announces, so a peer pays for
// memory with bytes. Parsers that read ahead (simdjson) may read kPaddingBytes past the end; those
// are zero.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gyre::net {

class PaddedBuffer {
 public:
  static constexpr std::size_t kPaddingBytes = 64;

  PaddedBuffer() = default;

  // Copies `bytes` to the end and returns where they lie now (until the next append).
  std::span<std::uint8_t> append(std::span<const std::uint8_t> bytes);
  void drop_front(std::size_t bytes);
  void release();  // Empties it and frees the memory.

  [[nodiscard]] std::span<std::uint8_t> unread() {
    return {memory_.get() + begin_, static_cast<std::size_t>(end_ - begin_)};
  }
  [[nodiscard]] std::size_t size() const { return end_ - begin_; }
  [[nodiscard]] bool is_empty() const { return begin_ == end_; }
  [[nodiscard]] std::size_t held_bytes() const { return memory_ ? capacity_ + kPaddingBytes : 0; }

 private:
  struct Free {
    void operator()(std::uint8_t* memory) const;
  };
  void make_room(std::size_t more);

  std::unique_ptr<std::uint8_t[], Free> memory_;
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace gyre::net

// FixedQueue: a queue of at most N items in one piece, which never allocates. Items are made once
// and used again.
#pragma once

#include <array>
#include <cstddef>

#include "gyre/base/assert.h"

namespace gyre::storage {

template <typename Item, std::size_t N>
class FixedQueue {
 public:
  static_assert((N & (N - 1)) == 0, "places are found by masking");

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool is_empty() const { return size_ == 0; }
  [[nodiscard]] bool is_full() const { return size_ == N; }
  // The oldest is number 0.
  [[nodiscard]] Item& operator[](std::size_t number) {
    GYRE_ASSERT_CMP(number, <, size_);
    return items_[(first_ + number) & (N - 1)];
  }
  [[nodiscard]] Item& front() { return (*this)[0]; }
  // A place at the end, to be filled: it holds what a former item has left.
  Item& push() {
    GYRE_ASSERT(!is_full());
    ++size_;
    return (*this)[size_ - 1];
  }
  void pop() {
    GYRE_ASSERT(!is_empty());
    first_ = (first_ + 1) & (N - 1);
    --size_;
  }
  void clear() { size_ = 0; }

 private:
  std::array<Item, N> items_{};
  std::size_t first_ = 0;
  std::size_t size_ = 0;
};

}  // namespace gyre::storage

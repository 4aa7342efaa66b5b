#include "net/padded_buffer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::net {

namespace {
constexpr std::size_t kCapacityMin = 256;
}  // namespace

void PaddedBuffer::Free::operator()(std::uint8_t* memory) const { std::free(memory); }

std::span<std::uint8_t> PaddedBuffer::append(std::span<const std::uint8_t> bytes) {
  if (!memory_ || capacity_ - end_ < bytes.size()) make_room(bytes.size());
  std::uint8_t* const place = memory_.get() + end_;
  if (!bytes.empty()) std::memcpy(place, bytes.data(), bytes.size());
  end_ += bytes.size();
  std::memset(memory_.get() + end_, 0, kPaddingBytes);
  return {place, bytes.size()};
}

void PaddedBuffer::drop_front(std::size_t bytes) {
  GYRE_ASSERT_CMP(bytes, <=, size());
  begin_ += bytes;
  if (begin_ == end_) begin_ = end_ = 0;
}

void PaddedBuffer::release() {
  memory_.reset();
  capacity_ = begin_ = end_ = 0;
}

void PaddedBuffer::make_room(std::size_t more) {
  const std::size_t held = size();
  if (begin_ > 0) {
    std::memmove(memory_.get(), memory_.get() + begin_, held);
    begin_ = 0;
    end_ = held;
  }
  const std::size_t wanted = held + more;
  if (memory_ && wanted <= capacity_) return;
  const std::size_t capacity = std::max({kCapacityMin, wanted, capacity_ * 2});
  // realloc moves large blocks by remapping pages, so growth seldom copies.
  void* const grown = std::realloc(memory_.release(), capacity + kPaddingBytes);
  GYRE_ASSERT(grown != nullptr);
  memory_.reset(static_cast<std::uint8_t*>(grown));
  capacity_ = capacity;
}

}  // namespace gyre::net

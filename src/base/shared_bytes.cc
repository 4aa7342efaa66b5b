#include "gyre/base/shared_bytes.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace gyre {

SharedBytes SharedBytes::copy_of(ByteSpan bytes) {
  void* const memory = std::malloc(sizeof(Block) + bytes.size());
  GYRE_ASSERT(memory != nullptr);
  auto* const block = new (memory) Block{1, static_cast<std::uint32_t>(bytes.size())};
  // memcpy takes no null, not even for nothing.
  if (!bytes.empty()) std::memcpy(block->bytes(), bytes.data(), bytes.size());
  return SharedBytes(block);
}

SharedBytesWriter& SharedBytesWriter::operator=(SharedBytesWriter&& other) noexcept {
  std::swap(block_, other.block_);
  std::swap(size_, other.size_);
  std::swap(capacity_, other.capacity_);
  return *this;
}

// Four times as much each time: what is copied on the way to the last size is a third of it.
void SharedBytesWriter::grow(std::uint32_t bytes) {
  constexpr std::uint64_t kFirstBytes = 4096;
  const std::uint64_t wanted =
      std::max({kFirstBytes, std::uint64_t{capacity_} * 4, std::uint64_t{size_} + bytes});
  GYRE_ASSERT_CMP(std::uint64_t{size_} + bytes, <=, std::numeric_limits<std::uint32_t>::max());
  const auto capacity = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(wanted, std::numeric_limits<std::uint32_t>::max()));
  void* const memory = std::malloc(sizeof(SharedBytes::Block) + capacity);
  GYRE_ASSERT(memory != nullptr);
  auto* const block = new (memory) SharedBytes::Block{1, 0};
  if (size_ != 0) std::memcpy(block->bytes(), block_->bytes(), size_);
  const std::uint32_t size = size_;
  clear();
  block_ = block;
  size_ = size;
  capacity_ = capacity;
}

SharedBytes SharedBytesWriter::take() {
  if (block_ == nullptr) return {};
  block_->size = std::exchange(size_, 0);
  capacity_ = 0;
  return SharedBytes::adopt(std::exchange(block_, nullptr));
}

void SharedBytesWriter::clear() {
  if (block_ != nullptr) (void)SharedBytes::adopt(std::exchange(block_, nullptr));
  size_ = 0;
  capacity_ = 0;
}

}  // namespace gyre

#include "runtime/buffer_ring.h"

#include <sys/mman.h>

#include <bit>
#include <cerrno>

#include "gyre/base/assert.h"

namespace gyre::runtime {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint32_t kCountMax = 32768;  // The kernel's.

}  // namespace

BufferRing::~BufferRing() {
  if (ring_ != nullptr) munmap(ring_, mapped_bytes_);
}

int BufferRing::open(io_uring& ring, std::uint32_t count, std::uint32_t buffer_bytes) {
  GYRE_ASSERT(std::has_single_bit(count));
  GYRE_ASSERT_CMP(count, <=, kCountMax);
  GYRE_ASSERT_CMP(buffer_bytes, >, 0u);
  const std::size_t entry_bytes = count * sizeof(io_uring_buf);
  const std::size_t ring_bytes = (entry_bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  mapped_bytes_ = ring_bytes + std::size_t{count} * buffer_bytes + Io::kReceivePadding;
  // Page-aligned, as the kernel wants it, and zero. Populated, so that the first messages of a
  // shard meet no page fault.
  void* const memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  if (memory == MAP_FAILED) return -errno;
  ring_ = static_cast<io_uring_buf_ring*>(memory);
  buffers_ = static_cast<std::uint8_t*>(memory) + ring_bytes;
  count_ = count;
  buffer_bytes_ = buffer_bytes;

  io_uring_buf_reg registration{};
  registration.ring_addr = reinterpret_cast<std::uintptr_t>(ring_);
  registration.ring_entries = count;
  registration.bgid = kGroup;
  const int result = io_uring_register_buf_ring(&ring, &registration, 0);
  if (result != 0) return result;
  io_uring_buf_ring_init(ring_);
  for (std::uint32_t id = 0; id < count; ++id) add(static_cast<std::uint16_t>(id));
  publish();
  return 0;
}

std::span<std::uint8_t> BufferRing::bytes(std::uint16_t id, std::size_t size) {
  GYRE_ASSERT_CMP(id, <, count_);
  GYRE_ASSERT_CMP(size, <=, buffer_bytes_);
  return {buffers_ + std::size_t{id} * buffer_bytes_, size};
}

void BufferRing::give_back(std::uint16_t id) {
  GYRE_ASSERT_CMP(taken_, >, 0u);
  --taken_;
  add(id);
}

void BufferRing::publish() {
  if (unpublished_ == 0) return;
  io_uring_buf_ring_advance(ring_, unpublished_);
  unpublished_ = 0;
}

void BufferRing::add(std::uint16_t id) {
  std::uint8_t* const buffer = buffers_ + std::size_t{id} * buffer_bytes_;
  io_uring_buf_ring_add(ring_, buffer, buffer_bytes_, id, io_uring_buf_ring_mask(count_),
                        unpublished_);
  ++unpublished_;
}

}  // namespace gyre::runtime

// UringIo: the class behind make_uring_io().
//
// An operation's user_data is the address of its Completion; the low bits, which alignment leaves
// free, tell completions of our own from those.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "gyre/runtime/uring_io.h"
#include "runtime/buffer_ring.h"
#include "runtime/uring_ring.h"

namespace gyre::runtime {

// Wakes a ring through an eventfd on which the ring keeps a read.
class EventWaker final : public Waker {
 public:
  EventWaker() = default;
  EventWaker(const EventWaker&) = delete;
  EventWaker& operator=(const EventWaker&) = delete;
  ~EventWaker() override;

  [[nodiscard]] int open();  // 0 or -errno.
  [[nodiscard]] int descriptor() const { return descriptor_; }
  void wake() override;

 private:
  int descriptor_ = -1;
};

class UringIo final : public Io {
 public:
  UringIo(ShardId self, UringSet& set);
  ~UringIo() override;

  [[nodiscard]] absl::Status open(const UringOptions& options);

  void submit_accept(int listener, Completion& completion) override;
  void submit_recv(int socket, Completion& completion) override;
  void submit_send(int socket, std::span<const iovec> slices, Completion& completion) override;
  void submit_read(int file, std::uint64_t offset, std::span<std::uint8_t> out,
                   Completion& completion) override;
  void cancel(Completion& completion) override;
  void shutdown(int socket) override;
  void close(int descriptor) override;
  [[nodiscard]] Address peer_address(int socket) override;
  void wake(ShardId shard) override;
  [[nodiscard]] Waker& waker() override { return waker_; }
  void reap() override;
  bool run(std::size_t budget) override;
  void enter(Wait wait, std::uint64_t deadline_ns) override;
  [[nodiscard]] IoCounters counters() const override { return counters_; }

 private:
  enum class Tag : std::uint64_t { kCompletion, kWoken, kWaker, kCancel, kWakeFailed };
  static constexpr unsigned kTagBits = 3;
  static constexpr std::uint64_t kTagMask = (1u << kTagBits) - 1;
  static_assert(alignof(Completion) >= 1u << kTagBits);

  // What is kept of a completion queue entry.
  struct Reaped {
    std::uint64_t user_data;
    std::int32_t result;
    std::uint32_t flags;
  };
  // Four turns' worth; what is more stays in the completion ring.
  static constexpr std::uint32_t kReapedMax = 1024;

  [[nodiscard]] static std::uint64_t tag_of(const Completion& completion, Tag tag) {
    return reinterpret_cast<std::uintptr_t>(&completion) | static_cast<std::uint64_t>(tag);
  }
  [[nodiscard]] std::uint32_t reaped_count() const { return reaped_end_ - reaped_begin_; }

  [[nodiscard]] io_uring_sqe& next_sqe();
  void begin(Completion& completion, Completion::Operation operation, int descriptor);
  void arm(Completion& completion);
  void submit_cancel(const Completion& completion);
  void arm_waker();
  void dispatch(const Reaped& reaped);
  void complete(Completion& completion, const Reaped& reaped);
  [[nodiscard]] static bool may_rearm(const Completion& completion, const Reaped& reaped);
  void end(Completion& completion, const CompletionResult& result);
  void rearm();
  void enter_ring(std::uint32_t wait_count, std::uint64_t timeout_ns);

  ShardId self_;
  UringSet& set_;
  bool is_announced_ = false;
  // The kernel may use these until the ring is gone, which is declared after them to go first.
  std::uint64_t waker_value_ = 0;
  EventWaker waker_;
  BufferRing buffers_;
  std::unique_ptr<msghdr[]> message_headers_;  // One for each slot of the submission queue.
  UringRing ring_;

  std::unique_ptr<Reaped[]> reaped_;  // A ring; the indexes run freely.
  std::uint32_t reaped_begin_ = 0;
  std::uint32_t reaped_end_ = 0;
  std::vector<Completion*> rearms_;
  absl::flat_hash_set<const Completion*> cancelling_;  // Asked in the kernel, not yet ended.
  IoCounters counters_;
};

}  // namespace gyre::runtime

// UringRing: one io_uring instance as this program sets it up, and the system call that enters it.
//
// Belongs to the thread that opened it (SINGLE_ISSUER). The enter is our own and not one of
// liburing's: their loops decide by themselves whether to enter, and liburing 2.3 cannot pass
// IORING_ENTER_NO_IOWAIT.
#pragma once

#include <liburing.h>

#include <cstdint>

#include "absl/status/status.h"

namespace gyre::runtime {

class UringRing {
 public:
  UringRing() = default;
  UringRing(const UringRing&) = delete;
  UringRing& operator=(const UringRing&) = delete;
  ~UringRing();

  // Makes the ring and checks that it can do all that UringIo asks of it.
  [[nodiscard]] absl::Status open(std::uint32_t submission_entries,
                                  std::uint32_t completion_entries);

  [[nodiscard]] io_uring& raw() { return ring_; }
  [[nodiscard]] int descriptor() const { return ring_.ring_fd; }

  // Null when the submission queue is full.
  [[nodiscard]] io_uring_sqe* try_get_sqe() { return io_uring_get_sqe(&ring_); }
  [[nodiscard]] std::uint32_t slot_of(const io_uring_sqe* sqe) const {
    return static_cast<std::uint32_t>(sqe - ring_.sq.sqes);
  }
  [[nodiscard]] std::uint32_t queued_count() const { return io_uring_sq_ready(&ring_); }

  // The kernel has work that only an enter runs: deferred completions (IORING_SQ_TASKRUN) or
  // completions that found the ring full (IORING_SQ_CQ_OVERFLOW).
  [[nodiscard]] bool has_kernel_work() const;
  [[nodiscard]] bool has_overflow() const { return io_uring_cq_has_overflow(&ring_); }

  // Submits what is queued and runs deferred work until `wait_count` completions are visible or
  // `timeout_ns` is over. The number submitted, or -errno: -ETIME and -EINTR are no errors, after
  // -EBUSY and -EAGAIN the caller takes completions and tries again.
  [[nodiscard]] int enter(std::uint32_t wait_count, std::uint64_t timeout_ns);

 private:
  [[nodiscard]] absl::Status check_features();
  [[nodiscard]] absl::Status check_operations();

  io_uring ring_{};
  bool is_open_ = false;
  unsigned enter_flags_ = 0;
};

}  // namespace gyre::runtime

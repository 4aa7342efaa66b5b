#include "gyre/runtime/uring_io.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "gyre/base/assert.h"
#include "gyre/base/log.h"
#include "runtime/buffer_ring.h"
#include "runtime/uring_errors.h"
#include "runtime/uring_io_private.h"
#include "runtime/uring_ring.h"

namespace gyre::runtime {
namespace {

// Since Linux 6.13 one enter runs at most max(20, wait count) deferred items. A wait count of 64
// with a timeout of zero would run more at once, but when fewer are there it arms a timer and gives
// the core away: 17 us of CPU where an enter that does not wait costs 1 (6.18). So polling enters
// several times instead, as long as the kernel says that it has more.
constexpr int kEntersPerPollMax = 4;
// A sleep without a deadline still ends once an hour: no timer is worth a special case.
constexpr std::uint64_t kSleepNsMax = 3'600'000'000'000;
// An enter that finds no memory, or a full completion ring, this often in a row means that the
// host is beyond help.
constexpr int kSubmitAttemptsMax = 10'000;

std::uint64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

[[noreturn]] void fail(int error) {
  if (error == EBADR) {
    GYRE_LOG(kError, "io_uring: the kernel ran out of memory and dropped a completion (EBADR)");
  } else {
    GYRE_LOG(kError, "io_uring: io_uring_enter failed: %s", std::strerror(error));
  }
  std::abort();
}

Address address_of(const sockaddr_storage& storage) {
  Address address;
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 ipv6{};
    std::memcpy(&ipv6, &storage, sizeof ipv6);
    std::memcpy(address.ip.bytes.data(), &ipv6.sin6_addr, sizeof ipv6.sin6_addr);
    address.port = ntohs(ipv6.sin6_port);
  } else if (storage.ss_family == AF_INET) {
    sockaddr_in ipv4{};
    std::memcpy(&ipv4, &storage, sizeof ipv4);
    address.ip.bytes[10] = 0xff;
    address.ip.bytes[11] = 0xff;
    std::memcpy(address.ip.bytes.data() + 12, &ipv4.sin_addr, sizeof ipv4.sin_addr);
    address.port = ntohs(ipv4.sin_port);
  }
  return address;
}

}  // namespace

EventWaker::~EventWaker() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

int EventWaker::open() {
  // Not EFD_NONBLOCK: io_uring answers EAGAIN for such a descriptor instead of waiting.
  descriptor_ = eventfd(0, EFD_CLOEXEC);
  return descriptor_ >= 0 ? 0 : -errno;
}

void EventWaker::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = write(descriptor_, &one, sizeof one);
}

UringIo::UringIo(ShardId self, UringSet& set) : self_(self), set_(set) {}

UringIo::~UringIo() {
  if (is_announced_) set_.set_ring_descriptor(self_, -1);
}

absl::Status UringIo::open(const UringOptions& options) {
  if (absl::Status status = ring_.open(options.submission_entries, options.completion_entries);
      !status.ok()) {
    return status;
  }
  int result = buffers_.open(ring_.raw(), options.receive_buffers, options.receive_buffer_bytes);
  if (result != 0) {
    return describe_uring_error("IORING_REGISTER_PBUF_RING", -result, read_uring_facts());
  }
  result = waker_.open();
  if (result != 0) return describe_uring_error("eventfd", -result, read_uring_facts());
  reaped_ = std::make_unique<Reaped[]>(kReapedMax);
  message_headers_ = std::make_unique<msghdr[]>(ring_.raw().sq.ring_entries);
  arm_waker();
  set_.set_ring_descriptor(self_, ring_.descriptor());
  is_announced_ = true;
  return absl::OkStatus();
}

// Submitting.

io_uring_sqe& UringIo::next_sqe() {
  for (int attempt = 0; attempt < kSubmitAttemptsMax; ++attempt) {
    if (io_uring_sqe* const sqe = ring_.try_get_sqe(); sqe != nullptr) return *sqe;
    // Full: submit, and go on. No handler runs here; completions only become visible, and are
    // taken to the list if the kernel finds no room for them.
    buffers_.publish();
    enter_ring(0, 0);
    if (attempt > 0) reap();
  }
  fail(EBUSY);
}

void UringIo::begin(Completion& completion, Completion::Operation operation, int descriptor) {
  GYRE_ASSERT(!completion.is_armed);
  GYRE_ASSERT(completion.handler != nullptr);
  completion.is_armed = true;
  completion.operation = operation;
  completion.is_cancelled = false;
  completion.is_waiting_to_rearm = false;
  completion.has_more_input = false;
  completion.descriptor = descriptor;
}

void UringIo::submit_accept(int listener, Completion& completion) {
  begin(completion, Completion::Operation::kAccept, listener);
  arm(completion);
}

void UringIo::submit_recv(int socket, Completion& completion) {
  begin(completion, Completion::Operation::kReceive, socket);
  arm(completion);
}

void UringIo::arm(Completion& completion) {
  io_uring_sqe& sqe = next_sqe();
  if (completion.operation == Completion::Operation::kAccept) {
    // No address: multishot accepts would all write to one place. Not SOCK_NONBLOCK: io_uring
    // answers EAGAIN for such a socket instead of waiting.
    io_uring_prep_multishot_accept(&sqe, completion.descriptor, nullptr, nullptr, SOCK_CLOEXEC);
  } else {
    GYRE_ASSERT(completion.operation == Completion::Operation::kReceive);
    io_uring_prep_recv_multishot(&sqe, completion.descriptor, nullptr, 0, 0);
    sqe.flags |= IOSQE_BUFFER_SELECT;
    sqe.buf_group = BufferRing::kGroup;
    // A first attempt would most likely find nothing; wait for readiness at once.
    if (!completion.has_more_input) sqe.ioprio |= IORING_RECVSEND_POLL_FIRST;
  }
  io_uring_sqe_set_data64(&sqe, tag_of(completion, Tag::kCompletion));
}

void UringIo::submit_send(int socket, std::span<const iovec> slices, Completion& completion) {
  GYRE_ASSERT(!slices.empty());
  GYRE_ASSERT_CMP(slices.size(), <=, kSendSlicesMax);
  begin(completion, Completion::Operation::kSend, socket);
  io_uring_sqe& sqe = next_sqe();
  // MSG_WAITALL: the kernel itself goes on after a short send.
  constexpr int kFlags = MSG_WAITALL | MSG_NOSIGNAL;
  if (slices.size() == 1) {
    io_uring_prep_send(&sqe, socket, slices[0].iov_base, slices[0].iov_len, kFlags);
  } else {
    // The kernel copies the header when it takes the entry (FEAT_SUBMIT_STABLE), and until then
    // nobody else gets the entry's slot.
    msghdr& header = message_headers_[ring_.slot_of(&sqe)];
    header = {};
    header.msg_iov = const_cast<iovec*>(slices.data());
    header.msg_iovlen = slices.size();
    io_uring_prep_sendmsg(&sqe, socket, &header, kFlags);
  }
  io_uring_sqe_set_data64(&sqe, tag_of(completion, Tag::kCompletion));
}

// At once through the ring, without a preadv2(RWF_NOWAIT) first: for what the page cache has, both
// cost the same (0.9 us for 4 KiB, in batches of 32), and for what it lacks the failed attempt
// costs 4 us on top of 7 (Linux 6.18, ext4, virtual disk). Such a read waits in the kernel without
// a worker thread where the file system can do that (FMODE_BUF_RASYNC: ext4, XFS, btrfs).
void UringIo::submit_read(int file, std::uint64_t offset, std::span<std::uint8_t> out,
                          Completion& completion) {
  begin(completion, Completion::Operation::kRead, file);
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_read(&sqe, file, out.data(), static_cast<unsigned>(out.size()), offset);
  io_uring_sqe_set_data64(&sqe, tag_of(completion, Tag::kCompletion));
}

void UringIo::cancel(Completion& completion) {
  if (!completion.is_armed || completion.is_cancelled) return;
  completion.is_cancelled = true;
  // Nothing of it is in the kernel: rearm() will end it instead.
  if (completion.is_waiting_to_rearm) return;
  cancelling_.insert(&completion);
  submit_cancel(completion);
}

void UringIo::submit_cancel(const Completion& completion) {
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_cancel64(&sqe, tag_of(completion, Tag::kCompletion), 0);
  sqe.flags |= IOSQE_CQE_SKIP_SUCCESS;
  io_uring_sqe_set_data64(&sqe, tag_of(completion, Tag::kCancel));
}

void UringIo::shutdown(int socket) {
  // The plain call: through the ring it would go to a worker thread. ENOTCONN, when the peer has
  // gone, is what was wanted.
  ::shutdown(socket, SHUT_RDWR);
}

void UringIo::close(int descriptor) { ::close(descriptor); }

Address UringIo::peer_address(int socket) {
  sockaddr_storage storage{};
  socklen_t length = sizeof storage;
  if (getpeername(socket, reinterpret_cast<sockaddr*>(&storage), &length) != 0) return {};
  return address_of(storage);
}

void UringIo::wake(ShardId shard) {
  const int descriptor = set_.ring_descriptor(shard);
  if (descriptor < 0) return;
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_msg_ring(&sqe, descriptor, 0, static_cast<std::uint64_t>(Tag::kWoken), 0);
  sqe.flags |= IOSQE_CQE_SKIP_SUCCESS;
  io_uring_sqe_set_data64(
      &sqe, std::uint64_t{shard} << kTagBits | static_cast<std::uint64_t>(Tag::kWakeFailed));
}

void UringIo::arm_waker() {
  io_uring_sqe& sqe = next_sqe();
  io_uring_prep_read(&sqe, waker_.descriptor(), &waker_value_, sizeof waker_value_, 0);
  io_uring_sqe_set_data64(&sqe, static_cast<std::uint64_t>(Tag::kWaker));
}

// Completing.

void UringIo::reap() {
  io_uring& ring = ring_.raw();
  unsigned head = 0;
  unsigned count = 0;
  io_uring_cqe* cqe = nullptr;
  io_uring_for_each_cqe(&ring, head, cqe) {
    if (reaped_count() == kReapedMax) break;
    reaped_[reaped_end_++ % kReapedMax] = {cqe->user_data, cqe->res, cqe->flags};
    if ((cqe->flags & IORING_CQE_F_BUFFER) != 0) buffers_.on_taken();
    ++count;
  }
  io_uring_cq_advance(&ring, count);
}

bool UringIo::run(std::size_t budget) {
  // Owners are scattered over memory; they are fetched while others are served.
  constexpr std::uint32_t kPrefetchAhead = 4;
  for (std::size_t left = std::min<std::size_t>(budget, reaped_count()); left > 0; --left) {
    const Reaped reaped = reaped_[reaped_begin_ % kReapedMax];
    const Reaped& ahead = reaped_[(reaped_begin_ + kPrefetchAhead) % kReapedMax];
    __builtin_prefetch(reinterpret_cast<const void*>(ahead.user_data & ~kTagMask));
    ++reaped_begin_;
    dispatch(reaped);
  }
  buffers_.publish();
  rearm();
  return reaped_count() > 0 || !rearms_.empty();
}

void UringIo::dispatch(const Reaped& reaped) {
  // Requires of all owners: alive while armed, so a completion's address is good here.
  auto* const completion = reinterpret_cast<Completion*>(reaped.user_data & ~kTagMask);
  switch (static_cast<Tag>(reaped.user_data & kTagMask)) {
    case Tag::kCompletion: complete(*completion, reaped); return;
    case Tag::kWoken: return;  // To have ended the sleep was all.
    case Tag::kWaker: arm_waker(); return;
    case Tag::kCancel:
      // Not found, though its end has not been seen either (it would stand before this in the
      // ring). A send that found the socket ready while it began to wait is in no table of the
      // kernel's until its next attempt; multishot operations always are.
      if (cancelling_.contains(completion)) submit_cancel(*completion);
      return;
    case Tag::kWakeFailed:
      // For want of memory: the sleeper depends on us. Otherwise its ring has gone.
      if (reaped.result == -ENOMEM || reaped.result == -EOVERFLOW || reaped.result == -EAGAIN) {
        wake(static_cast<ShardId>(reaped.user_data >> kTagBits));
      }
      return;
  }
  GYRE_ASSERT(!"unknown tag");
}

// A multishot operation may end with any result, because the completion ring was full for one:
// only IORING_CQE_F_MORE tells.
void UringIo::complete(Completion& completion, const Reaped& reaped) {
  GYRE_ASSERT(completion.is_armed);
  const bool has_buffer = (reaped.flags & IORING_CQE_F_BUFFER) != 0;
  const auto buffer = static_cast<std::uint16_t>(reaped.flags >> IORING_CQE_BUFFER_SHIFT);
  CompletionResult result{reaped.result, (reaped.flags & IORING_CQE_F_MORE) != 0, {}};
  if (has_buffer && reaped.result > 0) {
    result.bytes = buffers_.bytes(buffer, static_cast<std::size_t>(reaped.result));
  }
  const bool is_shortage =
      reaped.result == -ENOBUFS && completion.operation == Completion::Operation::kReceive;
  completion.has_more_input = is_shortage || (reaped.flags & IORING_CQE_F_SOCK_NONEMPTY) != 0;
  if (is_shortage) {
    ++counters_.buffer_shortages;
    result.result = -ECANCELED;  // Seen by the owner only if it was.
  }
  if (!result.more && may_rearm(completion, reaped)) {
    // In the list before the handler runs: it may cancel.
    completion.is_waiting_to_rearm = true;
    rearms_.push_back(&completion);
    result.more = true;
  }
  if (!result.more) {
    end(completion, result);
  } else if (!is_shortage) {
    ++counters_.completions;
    completion.handler(completion.owner, result);
  }
  if (has_buffer) buffers_.give_back(buffer);
}

bool UringIo::may_rearm(const Completion& completion, const Reaped& reaped) {
  if (completion.is_cancelled) return false;
  switch (completion.operation) {
    case Completion::Operation::kAccept: return reaped.result >= 0;
    case Completion::Operation::kReceive: return reaped.result > 0 || reaped.result == -ENOBUFS;
    case Completion::Operation::kSend:
    case Completion::Operation::kRead: return false;
    case Completion::Operation::kNone: break;
  }
  GYRE_ASSERT(!"a completion of no operation");
  return false;
}

void UringIo::end(Completion& completion, const CompletionResult& result) {
  if (completion.is_cancelled) cancelling_.erase(&completion);
  completion.is_armed = false;
  completion.is_waiting_to_rearm = false;
  ++counters_.completions;
  completion.handler(completion.owner, result);  // The completion may be gone after this.
}

// Arms what ended for a reason of ours. At most as many as there are buffers, first come first
// served: arming all of ten thousand connections for four buffers would end most of them again.
void UringIo::rearm() {
  const std::size_t count = std::min<std::size_t>(rearms_.size(), buffers_.available_count());
  for (std::size_t i = 0; i < count; ++i) {
    Completion& completion = *rearms_[i];
    if (completion.is_cancelled) {
      end(completion, {-ECANCELED, false, {}});
    } else {
      completion.is_waiting_to_rearm = false;
      arm(completion);
    }
  }
  rearms_.erase(rearms_.begin(), rearms_.begin() + static_cast<std::ptrdiff_t>(count));
}

// Entering.

void UringIo::enter(Wait wait, std::uint64_t deadline_ns) {
  if (ring_.has_overflow()) ++counters_.queue_overflows;
  std::uint64_t timeout_ns = 0;
  if (wait == Wait::kSleep && reaped_count() == 0 && rearms_.empty()) {
    const std::uint64_t now_ns = monotonic_ns();
    timeout_ns = deadline_ns > now_ns ? std::min(deadline_ns - now_ns, kSleepNsMax) : 0;
  }
  if (timeout_ns > 0) {
    enter_ring(1, timeout_ns);
    return;
  }
  if (ring_.queued_count() > 0) enter_ring(0, 0);
  for (int i = 0; i < kEntersPerPollMax && ring_.has_kernel_work(); ++i) enter_ring(0, 0);
}

void UringIo::enter_ring(std::uint32_t wait_count, std::uint64_t timeout_ns) {
  ++counters_.enters;
  const int result = ring_.enter(wait_count, timeout_ns);
  // EBUSY: overflown completions found no room yet. EAGAIN: no memory for a request. Both leave
  // the entries queued for the next enter, when completions have been taken.
  constexpr int kHarmless[] = {-ETIME, -EINTR, -EBUSY, -EAGAIN};
  if (result >= 0 || std::ranges::find(kHarmless, result) != std::end(kHarmless)) return;
  fail(-result);
}

absl::StatusOr<std::unique_ptr<Io>> make_uring_io(ShardId self, UringSet& set,
                                                  const UringOptions& options) {
  auto io = std::make_unique<UringIo>(self, set);
  if (absl::Status status = io->open(options); !status.ok()) return status;
  return io;
}

absl::Status check_uring_available() {
  // With every part that a shard's ring has, but small.
  UringSet set(1);
  UringOptions options;
  options.submission_entries = 8;
  options.completion_entries = 16;
  options.receive_buffers = 1;
  return UringIo(0, set).open(options);
}

UringSet::UringSet(std::uint32_t shard_count) : descriptors_(shard_count) {
  for (std::atomic<int>& descriptor : descriptors_) descriptor.store(-1, std::memory_order_relaxed);
}

// Relaxed: the number is all that is shared, and the kernel orders what it stands for.
void UringSet::set_ring_descriptor(ShardId shard, int descriptor) {
  GYRE_ASSERT_CMP(shard, <, descriptors_.size());
  descriptors_[shard].store(descriptor, std::memory_order_relaxed);
}

int UringSet::ring_descriptor(ShardId shard) const {
  GYRE_ASSERT_CMP(shard, <, descriptors_.size());
  return descriptors_[shard].load(std::memory_order_relaxed);
}

}  // namespace gyre::runtime

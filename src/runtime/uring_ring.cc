#include "runtime/uring_ring.h"

#include <array>
#include <cerrno>
#include <memory>

#include "runtime/uring_errors.h"

namespace gyre::runtime {
namespace {

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;

// Flags, all known to Linux 6.1:
//   SINGLE_ISSUER   only the shard's thread submits; drops locking
//   DEFER_TASKRUN   completions are made inside our own enter, so no interrupt disturbs the loop
//   COOP_TASKRUN    no inter-processor interrupts for the same reason
//   TASKRUN_FLAG    tells in shared memory that an enter would find something
//   SUBMIT_ALL      one bad entry does not stop the batch
//   CQSIZE          multishot operations make completions without submissions
constexpr unsigned kSetupFlags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN |
                                 IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG |
                                 IORING_SETUP_SUBMIT_ALL | IORING_SETUP_CQSIZE;

struct NamedBit {
  unsigned bit;
  const char* name;
};

constexpr std::array kRequiredFeatures = {
    NamedBit{IORING_FEAT_NODROP, "FEAT_NODROP (completions are never dropped)"},
    NamedBit{IORING_FEAT_SUBMIT_STABLE, "FEAT_SUBMIT_STABLE (arguments are copied at submit)"},
    NamedBit{IORING_FEAT_EXT_ARG, "FEAT_EXT_ARG (waiting with a deadline)"},
    NamedBit{IORING_FEAT_FAST_POLL, "FEAT_FAST_POLL (sockets without worker threads)"},
    NamedBit{IORING_FEAT_CQE_SKIP, "FEAT_CQE_SKIP (silent completions)"},
};

constexpr std::array kRequiredOperations = {
    NamedBit{IORING_OP_ACCEPT, "IORING_OP_ACCEPT"},
    NamedBit{IORING_OP_RECV, "IORING_OP_RECV"},
    NamedBit{IORING_OP_SEND, "IORING_OP_SEND"},
    NamedBit{IORING_OP_SENDMSG, "IORING_OP_SENDMSG"},
    NamedBit{IORING_OP_READ, "IORING_OP_READ"},
    NamedBit{IORING_OP_ASYNC_CANCEL, "IORING_OP_ASYNC_CANCEL"},
    NamedBit{IORING_OP_MSG_RING, "IORING_OP_MSG_RING"},
    // Came with 6.1, as multishot receive on rings of buffers did not long before, which has no
    // bit of its own.
    NamedBit{IORING_OP_SENDMSG_ZC, "IORING_OP_SENDMSG_ZC"},
};

// Linux 6.15; unknown to liburing 2.3. Without it a sleeping ring counts as waiting for a disk, and
// `top` shows an idle relay at 100 % iowait.
constexpr unsigned kFeatureNoIowait = 1u << 17;
constexpr unsigned kEnterNoIowait = 1u << 7;

// Threads of io_uring's own pool. Nothing here needs them as a rule; by default only RLIMIT_NPROC
// would bound them.
constexpr unsigned kWorkersMax = 4;

struct ProbeDeleter {
  void operator()(io_uring_probe* probe) const { io_uring_free_probe(probe); }
};

}  // namespace

UringRing::~UringRing() {
  if (is_open_) io_uring_queue_exit(&ring_);
}

absl::Status UringRing::open(std::uint32_t submission_entries, std::uint32_t completion_entries) {
  io_uring_params params{};
  params.flags = kSetupFlags;
  params.cq_entries = completion_entries;
  int result = io_uring_queue_init_params(submission_entries, &ring_, &params);
  if (result < 0) return describe_uring_error("io_uring_setup", -result, read_uring_facts());
  is_open_ = true;
  if (absl::Status status = check_features(); !status.ok()) return status;
  if (absl::Status status = check_operations(); !status.ok()) return status;

  // A child between fork and exec must not share the queues.
  io_uring_ring_dontfork(&ring_);
  unsigned workers[2] = {kWorkersMax, kWorkersMax};
  result = io_uring_register_iowq_max_workers(&ring_, workers);
  if (result < 0) {
    return describe_uring_error("IORING_REGISTER_IOWQ_MAX_WORKERS", -result, read_uring_facts());
  }
  // Saves looking the ring up among the process's descriptors at each enter.
  result = io_uring_register_ring_fd(&ring_);
  if (result < 0) {
    return describe_uring_error("IORING_REGISTER_RING_FDS", -result, read_uring_facts());
  }
  enter_flags_ = IORING_ENTER_GETEVENTS | IORING_ENTER_EXT_ARG | IORING_ENTER_REGISTERED_RING;
  if ((ring_.features & kFeatureNoIowait) != 0) enter_flags_ |= kEnterNoIowait;
  // Entry i of the queue is always submission i. liburing may have filled this in already, or have
  // a ring without the array.
  if (ring_.sq.array != nullptr) {
    for (unsigned i = 0; i < ring_.sq.ring_entries; ++i) ring_.sq.array[i] = i;
  }
  return absl::OkStatus();
}

absl::Status UringRing::check_features() {
  for (const NamedBit& feature : kRequiredFeatures) {
    if ((ring_.features & feature.bit) == 0) {
      return describe_missing_feature(feature.name, read_uring_facts());
    }
  }
  return absl::OkStatus();
}

absl::Status UringRing::check_operations() {
  const std::unique_ptr<io_uring_probe, ProbeDeleter> probe(io_uring_get_probe_ring(&ring_));
  if (probe == nullptr)
    return describe_missing_feature("IORING_REGISTER_PROBE", read_uring_facts());
  for (const NamedBit& operation : kRequiredOperations) {
    if (io_uring_opcode_supported(probe.get(), static_cast<int>(operation.bit)) == 0) {
      return describe_missing_feature(operation.name, read_uring_facts());
    }
  }
  return absl::OkStatus();
}

bool UringRing::has_kernel_work() const {
  return (IO_URING_READ_ONCE(*ring_.sq.kflags) & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW)) != 0;
}

int UringRing::enter(std::uint32_t wait_count, std::uint64_t timeout_ns) {
  // Release: the entries are written before the kernel sees the new tail.
  io_uring_smp_store_release(ring_.sq.ktail, ring_.sq.sqe_tail);
  __kernel_timespec timeout{};
  timeout.tv_sec = static_cast<std::int64_t>(timeout_ns / kNsPerSecond);
  timeout.tv_nsec = static_cast<std::int64_t>(timeout_ns % kNsPerSecond);
  io_uring_getevents_arg argument{};
  argument.ts = reinterpret_cast<std::uintptr_t>(&timeout);
  // liburing's prototype says sigset_t; with EXT_ARG the kernel reads an io_uring_getevents_arg.
  const int result =
      io_uring_enter2(static_cast<unsigned>(ring_.enter_ring_fd), queued_count(), wait_count,
                      enter_flags_, reinterpret_cast<sigset_t*>(&argument), sizeof argument);
  return result;
}

}  // namespace gyre::runtime

// Why io_uring cannot be used here, and what to do about it, in the words of an operator.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace gyre::runtime {

// What decides which of several causes an errno has.
struct UringFacts {
  static constexpr int kUnknown = -1;
  int io_uring_disabled = kUnknown;  // kernel.io_uring_disabled; absent before Linux 6.6.
  bool has_seccomp_filter = false;   // "Seccomp: 2" of the calling thread.
  std::string kernel_release;        // As uname -r prints it.
  std::uint64_t memlock_bytes = 0;   // RLIMIT_MEMLOCK, soft.
  std::uint64_t descriptors = 0;     // RLIMIT_NOFILE, soft.
};

[[nodiscard]] UringFacts read_uring_facts();

// `step` names the call that failed; `error` is its errno, positive. Pure.
[[nodiscard]] absl::Status describe_uring_error(const std::string& step, int error,
                                                const UringFacts& facts);

// The ring was made, but the kernel lacks `feature`. Pure.
[[nodiscard]] absl::Status describe_missing_feature(const std::string& feature,
                                                    const UringFacts& facts);

}  // namespace gyre::runtime

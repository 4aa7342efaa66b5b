#include "runtime/uring_errors.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace gyre::runtime {
namespace {

constexpr std::uint64_t kKiB = 1024;

// Files of /proc are short and read at once.
std::optional<std::string> read_small_file(const char* path) {
  const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  std::string text(8 * kKiB, '\0');
  const ssize_t got = read(descriptor, text.data(), text.size());
  close(descriptor);
  if (got < 0) return std::nullopt;
  text.resize(static_cast<std::size_t>(got));
  return text;
}

bool has_seccomp_filter() {
  // Filters belong to threads, so /proc/self, which is the first thread, would not do.
  const std::optional<std::string> status = read_small_file("/proc/thread-self/status");
  return status && status->find("\nSeccomp:\t2") != std::string::npos;
}

std::uint64_t soft_limit(__rlimit_resource_t resource) {
  rlimit limit{};
  return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : 0;
}

std::string limit_text(std::uint64_t limit) {
  return limit == RLIM_INFINITY ? "unlimited" : absl::StrCat(limit);
}

absl::Status describe_permission(const UringFacts& facts) {
  if (facts.io_uring_disabled >= 1) {
    // At 2 it is off for everybody; only at 1 does the group of kernel.io_uring_group count.
    const char* const other_cure =
        facts.io_uring_disabled == 1 ? ", or add this user's group to kernel.io_uring_group" : "";
    return absl::PermissionDeniedError(absl::StrCat(
        "io_uring is disabled on this host (kernel.io_uring_disabled=", facts.io_uring_disabled,
        "). Run `sysctl -w kernel.io_uring_disabled=0`", other_cure, "."));
  }
  if (facts.has_seccomp_filter) {
    return absl::PermissionDeniedError(
        "io_uring is blocked by this container's seccomp profile (Docker does so by default). "
        "Start with `--security-opt seccomp=` and a profile that allows io_uring_setup, "
        "io_uring_enter and io_uring_register, or with `--security-opt seccomp=unconfined`; "
        "Kubernetes: securityContext.seccompProfile.");
  }
  return absl::PermissionDeniedError(
      "io_uring is not permitted to this process, though neither kernel.io_uring_disabled nor a "
      "seccomp filter says so: ask for a security module (SELinux, AppArmor) on this host.");
}

}  // namespace

UringFacts read_uring_facts() {
  UringFacts facts;
  if (const auto text = read_small_file("/proc/sys/kernel/io_uring_disabled")) {
    if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(*text), &facts.io_uring_disabled)) {
      facts.io_uring_disabled = UringFacts::kUnknown;
    }
  }
  facts.has_seccomp_filter = has_seccomp_filter();
  utsname name{};
  if (uname(&name) == 0) facts.kernel_release = name.release;
  facts.memlock_bytes = soft_limit(RLIMIT_MEMLOCK);
  facts.descriptors = soft_limit(RLIMIT_NOFILE);
  return facts;
}

absl::Status describe_uring_error(const std::string& step, int error, const UringFacts& facts) {
  switch (error) {
    case EPERM:
    case EACCES: return describe_permission(facts);
    case ENOSYS:
      return absl::UnimplementedError(absl::StrCat(
          "this kernel lacks io_uring (uname: ", facts.kernel_release,
          "): built without it, a sandbox such as gVisor, or a seccomp filter that hides it. "
          "Linux 6.1 or later is needed."));
    case EINVAL:
      return absl::UnimplementedError(
          absl::StrCat("kernel ", facts.kernel_release,
                       " is too old: Linux 6.1 or later is needed for DEFER_TASKRUN (", step,
                       " answered EINVAL)."));
    case ENOMEM:
      return absl::ResourceExhaustedError(absl::StrCat(
          "no memory for a ring (", step, " answered ENOMEM; RLIMIT_MEMLOCK is ",
          limit_text(facts.memlock_bytes),
          "). Raise LimitMEMLOCK= of the service (docker: `--ulimit memlock=-1`) or the "
          "container's memory."));
    case EMFILE:
      return absl::ResourceExhaustedError(
          absl::StrCat("no descriptor left for a ring (", step,
                       " answered EMFILE; RLIMIT_NOFILE is ", limit_text(facts.descriptors),
                       "). Raise LimitNOFILE= of the service (docker: `--ulimit nofile=`)."));
    case ENFILE:
      return absl::ResourceExhaustedError(
          absl::StrCat("the host has no descriptor left for a ring (", step,
                       " answered ENFILE). Raise the sysctl fs.file-max."));
    default:
      return absl::InternalError(absl::StrCat(step, " failed: ", std::strerror(error), " (kernel ",
                                              facts.kernel_release, ")."));
  }
}

absl::Status describe_missing_feature(const std::string& feature, const UringFacts& facts) {
  return absl::UnimplementedError(absl::StrCat("the io_uring of kernel ", facts.kernel_release,
                                               " lacks ", feature,
                                               ". Linux 6.1 or later is needed."));
}

}  // namespace gyre::runtime

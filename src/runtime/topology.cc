#include "gyre/runtime/topology.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "absl/strings/str_cat.h"
#include "gyre/base/assert.h"

namespace gyre::runtime {
namespace {

struct CpuSetDeleter {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, CpuSetDeleter>;

// Above any kernel's CONFIG_NR_CPUS.
constexpr std::size_t kCoresMax = 1 << 16;

CpuSet make_cpu_set(std::size_t capacity) {
  CpuSet set(CPU_ALLOC(capacity));
  GYRE_ASSERT(set != nullptr);
  CPU_ZERO_S(CPU_ALLOC_SIZE(capacity), set.get());
  return set;
}

}  // namespace

std::vector<int> usable_cores() {
  // The kernel refuses (EINVAL) a mask shorter than its own, whose length it does not tell.
  for (std::size_t capacity = CPU_SETSIZE; capacity <= kCoresMax; capacity *= 2) {
    const CpuSet set = make_cpu_set(capacity);
    const std::size_t bytes = CPU_ALLOC_SIZE(capacity);
    if (sched_getaffinity(0, bytes, set.get()) != 0) {
      GYRE_ASSERT_CMP(errno, ==, EINVAL);
      continue;
    }
    std::vector<int> cores;
    for (std::size_t core = 0; core < capacity; ++core) {
      if (CPU_ISSET_S(core, bytes, set.get())) cores.push_back(static_cast<int>(core));
    }
    GYRE_ASSERT(!cores.empty());
    return cores;
  }
  GYRE_ASSERT(!"no affinity mask is long enough");
  return {};
}

absl::Status pin_to_core(int core) {
  const auto number = static_cast<std::size_t>(core);  // Negative: far above the limit.
  if (number >= kCoresMax) {
    return absl::InvalidArgumentError(absl::StrCat("there is no core ", core));
  }
  const CpuSet set = make_cpu_set(number + 1);
  const std::size_t bytes = CPU_ALLOC_SIZE(number + 1);
  CPU_SET_S(number, bytes, set.get());
  if (sched_setaffinity(0, bytes, set.get()) != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat("cannot pin a thread to core ", core, ": ", std::strerror(errno),
                     ". The core must exist and be in this process's cpuset (see "
                     "Cpus_allowed_list in /proc/self/status)."));
  }
  return absl::OkStatus();
}

}  // namespace gyre::runtime

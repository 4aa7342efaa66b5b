// The cores this process may use, and pinning threads to them.
#pragma once

#include <vector>

#include "absl/status/status.h"

namespace gyre::runtime {

// Cores of the calling thread's affinity mask (taskset, cgroup cpuset), ascending; never empty.
[[nodiscard]] std::vector<int> usable_cores();

// Pins the calling thread.
[[nodiscard]] absl::Status pin_to_core(int core);

}  // namespace gyre::runtime

// What this process holds in memory, by /proc/self/status.
#pragma once

#include <cstdint>

namespace gyre::store_bench {

struct Memory {
  std::uint64_t anonymous_bytes = 0;  // The process's own.
  std::uint64_t file_bytes = 0;       // Mapped files; the kernel may take it back at any time.
  std::uint64_t peak_bytes = 0;       // Of both, since the start.
};
[[nodiscard]] Memory measure_memory();

}  // namespace gyre::store_bench

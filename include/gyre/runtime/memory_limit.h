// How much memory this process may use, page cache included.
#pragma once

#include <cstdint>
#include <string>

namespace gyre::runtime {

// The least of the machine's memory and of the limits of the process's control group and those
// above it: memory.max and memory.high (version 2), memory.limit_in_bytes (version 1). What cannot
// be read counts as no limit. `root` stands before /proc and /sys; tests have trees of their own.
[[nodiscard]] std::uint64_t memory_limit_bytes(const std::string& root = "");

}  // namespace gyre::runtime

// What the kernel tells of the relay's process, by /proc.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace gyre::load {

// CPU time of all threads, user and system, ended ones included.
[[nodiscard]] double process_cpu_s(pid_t pid);
[[nodiscard]] std::uint64_t process_rss_bytes(pid_t pid);

// Raises the soft limit of open files to the hard one.
void raise_file_limit();

}  // namespace gyre::load

#include "process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include "failure.h"

namespace gyre::load {

double process_cpu_s(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) fail("the process of --pid is gone");
  // The name in brackets may hold blanks; utime and stime are the 12th and 13th fields behind it.
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user_ticks = 0;
  double system_ticks = 0;
  fields >> user_ticks >> system_ticks;
  return (user_ticks + system_ticks) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::uint64_t process_rss_bytes(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  std::string line;
  while (std::getline(file, line)) {
    std::uint64_t kib = 0;
    if (std::sscanf(line.c_str(), "VmRSS: %lu kB", &kib) == 1) return kib * 1024;
  }
  fail("the process of --pid is gone");
}

void raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) fail_errno("getrlimit");
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) fail_errno("setrlimit");
}

}  // namespace gyre::load

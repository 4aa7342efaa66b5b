#include "memory.h"

#include <fstream>
#include <sstream>
#include <string>

namespace gyre::store_bench {

Memory measure_memory() {
  Memory memory;
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    std::istringstream words(line);
    std::string name;
    std::uint64_t kibibytes = 0;
    words >> name >> kibibytes;
    if (name == "RssAnon:") memory.anonymous_bytes = kibibytes * 1024;
    if (name == "RssFile:") memory.file_bytes = kibibytes * 1024;
    if (name == "VmHWM:") memory.peak_bytes = kibibytes * 1024;
  }
  return memory;
}

}  // namespace gyre::store_bench

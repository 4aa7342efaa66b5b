#include "gyre/runtime/memory_limit.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <limits>
#include <string_view>
#include <vector>

namespace gyre::runtime {
namespace {

constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

// The number that `text` begins with; kNoLimit for any other text, such as "max".
std::uint64_t parse_limit(std::string_view text) {
  std::uint64_t value = kNoLimit;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::uint64_t limit_in_file(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  return std::getline(file, line) ? parse_limit(line) : kNoLimit;
}

// "MemTotal:       24684092 kB"
std::uint64_t physical_bytes(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("MemTotal:")) continue;
    const std::uint64_t kib =
        parse_limit(line.substr(std::min(line.find_first_of("0123456789"), line.size())));
    return kib == kNoLimit ? kNoLimit : kib * 1024;
  }
  return kNoLimit;
}

// Of a group and of those above it, up to the mount. In a container the path may name folders that
// are not there; those above them are.
std::uint64_t limit_of_groups(const std::string& mount, std::string path,
                              const std::vector<std::string>& names) {
  std::uint64_t least = kNoLimit;
  while (true) {
    for (const std::string& name : names) {
      least = std::min(least, limit_in_file(mount + path + "/" + name));
    }
    const std::size_t slash = path.rfind('/');
    if (slash == std::string::npos) return least;
    path.resize(slash);
  }
}

bool names_memory(std::string_view controllers) {
  return ("," + std::string(controllers) + ",").find(",memory,") != std::string::npos;
}

}  // namespace

std::uint64_t memory_limit_bytes(const std::string& root) {
  std::uint64_t least = physical_bytes(root);
  std::ifstream groups(root + "/proc/self/cgroup");
  // "0::/path" is version 2, "4:memory:/path" version 1; a machine may have both.
  for (std::string line; std::getline(groups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (line.starts_with("0::")) {
      for (const char* const mount : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        least = std::min(least, limit_of_groups(root + mount, path, {"memory.max", "memory.high"}));
      }
    } else if (names_memory(controllers)) {
      least = std::min(
          least, limit_of_groups(root + "/sys/fs/cgroup/memory", path, {"memory.limit_in_bytes"}));
    }
  }
  return least;
}

}  // namespace gyre::runtime

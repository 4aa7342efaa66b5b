#include "gyre/base/clock.h"

#include <ctime>

namespace gyre {

std::uint64_t SystemClock::monotonic_ns() const {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(now.tv_nsec);
}

std::int64_t SystemClock::unix_s() const {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec;
}

}  // namespace gyre

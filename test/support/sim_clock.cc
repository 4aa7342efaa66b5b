#include "support/sim_clock.h"

namespace gyre::test {
namespace {

constexpr std::int64_t kNsPerSecond = 1'000'000'000;
// Not zero: a deadline of 0 must be in the past from the start, as on a machine that is up.
constexpr std::uint64_t kStartNs = 1'000 * static_cast<std::uint64_t>(kNsPerSecond);

}  // namespace

std::uint64_t SimClock::monotonic_ns() const { return kStartNs + elapsed_ns_; }

std::int64_t SimClock::unix_s() const {
  return (unix_ns_at_start_ + static_cast<std::int64_t>(elapsed_ns_)) / kNsPerSecond;
}

void SimClock::advance_to(std::uint64_t monotonic_ns) {
  if (monotonic_ns > this->monotonic_ns()) elapsed_ns_ = monotonic_ns - kStartNs;
}

void SimClock::set_unix_s(std::int64_t unix_s) {
  unix_ns_at_start_ = unix_s * kNsPerSecond - static_cast<std::int64_t>(elapsed_ns_);
}

}  // namespace gyre::test

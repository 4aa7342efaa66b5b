// Time as a parameter, so that a whole relay can run on simulated time.
#pragma once

#include <cstdint>

namespace gyre {

class Clock {
 public:
  virtual ~Clock() = default;
  // Never goes back; for intervals and deadlines.
  [[nodiscard]] virtual std::uint64_t monotonic_ns() const = 0;
  // Unix seconds, as created_at and NIP-40 count them.
  [[nodiscard]] virtual std::int64_t unix_s() const = 0;
};

// The kernel's clocks.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::uint64_t monotonic_ns() const override;
  [[nodiscard]] std::int64_t unix_s() const override;
};

}  // namespace gyre

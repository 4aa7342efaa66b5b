// A clock that stands still until it is told to go on.
#pragma once

#include <cstdint>

#include "gyre/base/clock.h"

namespace gyre::test {

class SimClock final : public Clock {
 public:
  // 2023-11-14T22:13:20Z, as good as any other time.
  static constexpr std::int64_t kStartUnixS = 1'700'000'000;

  explicit SimClock(std::int64_t unix_s = kStartUnixS) { set_unix_s(unix_s); }

  [[nodiscard]] std::uint64_t monotonic_ns() const override;
  [[nodiscard]] std::int64_t unix_s() const override;

  void advance_ns(std::uint64_t ns) { elapsed_ns_ += ns; }
  void advance_ms(std::uint64_t ms) { advance_ns(ms * 1'000'000); }
  void advance_s(std::uint64_t s) { advance_ms(s * 1'000); }
  // Goes forward to that monotonic time; nothing if it has passed.
  void advance_to(std::uint64_t monotonic_ns);

  // Sets the wall clock, as an operator may, back or forth; monotonic time does not notice.
  void set_unix_s(std::int64_t unix_s);

 private:
  std::uint64_t elapsed_ns_ = 0;
  std::int64_t unix_ns_at_start_ = 0;
};

}  // namespace gyre::test

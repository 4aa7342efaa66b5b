// ResultLimit: how many events a filter, or a whole query, may give, and how many it has given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace gyre::storage {

class ResultLimit {
 public:
  enum class End : std::uint8_t {
    kExact,  // Not one more.
    // All of the second in which the limit was reached, so that who goes on with `until` at the
    // oldest event misses none (nips.md 67-03).
    kWholeSecond,
  };

  // Not explicit: a plain number is an exact limit.
  ResultLimit(std::uint64_t count = std::numeric_limits<std::uint64_t>::max(),
              End end = End::kExact)
      : count_(count), end_(end) {}

  [[nodiscard]] std::uint64_t count() const { return count_; }
  // Without what a whole second may add.
  [[nodiscard]] std::uint64_t remaining() const { return count_ - std::min(count_, given_); }
  // Whether an event of this time may be given now, newest first.
  [[nodiscard]] bool admits(std::uint64_t created_at) const {
    if (given_ < count_) return true;
    return end_ == End::kWholeSecond && given_ > 0 && created_at == oldest_;
  }
  // No event at all will be admitted any more.
  [[nodiscard]] bool is_spent() const { return given_ >= count_ && end_ == End::kExact; }
  // Requires: admits(created_at).
  void give(std::uint64_t created_at) {
    ++given_;
    oldest_ = created_at;
  }

 private:
  std::uint64_t count_;
  std::uint64_t given_ = 0;
  std::uint64_t oldest_ = 0;  // created_at of the last one given.
  End end_;
};

}  // namespace gyre::storage

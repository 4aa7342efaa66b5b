// Chance: deterministic random numbers, the same on every machine for one seed. The distributions
// of the standard library differ between implementations, so the few that are needed stand here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gyre::load {

class Chance {
 public:
  explicit Chance(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next();                      // 64 random bits (splitmix64).
  std::uint64_t below(std::uint64_t bound);  // 0 to bound - 1. Requires: bound > 0.
  double uniform();                          // 0 to 1, without 1.
  double normal();                           // Mean 0, deviation 1.

 private:
  std::uint64_t state_;
};

// Ranks 0 to count - 1; rank r comes with a probability proportional to 1 / (r + 1)^exponent.
class Zipf {
 public:
  // Requires: count > 0.
  Zipf(std::size_t count, double exponent);
  std::size_t operator()(Chance& chance) const;

 private:
  std::vector<double> cumulative_;
};

}  // namespace gyre::load

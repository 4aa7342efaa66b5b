// Chance as a parameter: the kernel's in production, a seeded generator in simulation.
#pragma once

#include <cstdint>
#include <span>

namespace gyre {

class Random {
 public:
  virtual ~Random() = default;
  virtual void fill(std::span<std::uint8_t> out) = 0;
  [[nodiscard]] std::uint64_t next_u64();
};

// getrandom(2); used for challenges and store keys, so it must not be predictable.
class SystemRandom final : public Random {
 public:
  void fill(std::span<std::uint8_t> out) override;
};

// xoshiro256** from a seed (splitmix64 expands it); the same seed replays the same run.
class SeededRandom final : public Random {
 public:
  explicit SeededRandom(std::uint64_t seed);
  void fill(std::span<std::uint8_t> out) override;

 private:
  [[nodiscard]] std::uint64_t step();
  std::uint64_t state_[4];
};

}  // namespace gyre

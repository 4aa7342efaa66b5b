#include "gyre/base/random.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre {

std::uint64_t Random::next_u64() {
  std::uint8_t bytes[8];
  fill(bytes);
  std::uint64_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

void SystemRandom::fill(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const ssize_t got = getrandom(out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    GYRE_ASSERT(got > 0);
    out = out.subspan(static_cast<std::size_t>(got));
  }
}

SeededRandom::SeededRandom(std::uint64_t seed) {
  for (std::uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15u;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    word = z ^ (z >> 31);
  }
}

std::uint64_t SeededRandom::step() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

void SeededRandom::fill(std::span<std::uint8_t> out) {
  while (!out.empty()) {
    const std::uint64_t word = step();
    const std::size_t count = std::min(out.size(), sizeof word);
    std::memcpy(out.data(), &word, count);
    out = out.subspan(count);
  }
}

}  // namespace gyre

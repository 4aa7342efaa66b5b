#include "storage/siphash.h"

#include <bit>
#include <cstring>

namespace gyre::storage {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they stand");

std::uint64_t load_word(const std::uint8_t* bytes) {
  std::uint64_t word;
  std::memcpy(&word, bytes, sizeof word);
  return word;
}

// Fewer than eight bytes, zeros above them.
std::uint64_t load_tail(const std::uint8_t* bytes, std::size_t count) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{bytes[i]} << (8 * i);
  return word;
}

}  // namespace

SipHash24::SipHash24(std::uint64_t key0, std::uint64_t key1)
    // "somepseudorandomlygeneratedbytes", the constants of the paper.
    : state_{key0 ^ 0x736f6d6570736575, key1 ^ 0x646f72616e646f6d, key0 ^ 0x6c7967656e657261,
             key1 ^ 0x7465646279746573} {}

inline void SipHash24::State::round() {
  v0 += v1;
  v2 += v3;
  v1 = std::rotl(v1, 13) ^ v0;
  v3 = std::rotl(v3, 16) ^ v2;
  v0 = std::rotl(v0, 32);
  v2 += v1;
  v0 += v3;
  v1 = std::rotl(v1, 17) ^ v2;
  v3 = std::rotl(v3, 21) ^ v0;
  v2 = std::rotl(v2, 32);
}

inline void SipHash24::State::absorb_word(std::uint64_t word) {
  v3 ^= word;
  round();
  round();
  v0 ^= word;
}

void SipHash24::absorb(ByteSpan bytes) {
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  const auto shift = static_cast<unsigned>(8 * (bytes_ % 8));
  bytes_ += left;
  State state = state_;
  std::uint64_t rest = rest_;
  for (; left >= 8; at += 8, left -= 8) {
    const std::uint64_t word = load_word(at);
    state.absorb_word(rest | word << shift);
    // A shift by the full width has no meaning in C++.
    rest = shift == 0 ? 0 : word >> (64 - shift);
  }
  const std::uint64_t tail = load_tail(at, left);
  rest |= tail << shift;
  if (shift / 8 + left >= 8) {
    state.absorb_word(rest);
    rest = shift == 0 ? 0 : tail >> (64 - shift);
  }
  state_ = state;
  rest_ = rest;
}

std::uint64_t SipHash24::finish() {
  State state = state_;
  state.absorb_word(rest_ | bytes_ << 56);
  state.v2 ^= 0xff;
  for (int i = 0; i < 4; ++i) state.round();
  return state.v0 ^ state.v1 ^ state.v2 ^ state.v3;
}

}  // namespace gyre::storage

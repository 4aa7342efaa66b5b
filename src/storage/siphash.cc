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
    : v0_(key0 ^ 0x736f6d6570736575),
      v1_(key1 ^ 0x646f72616e646f6d),
      v2_(key0 ^ 0x6c7967656e657261),
      v3_(key1 ^ 0x7465646279746573) {}

void SipHash24::absorb(ByteSpan bytes) {
  const std::uint8_t* at = bytes.data();
  std::size_t left = bytes.size();
  const auto shift = static_cast<unsigned>(8 * (bytes_ % 8));
  bytes_ += left;
  for (; left >= 8; at += 8, left -= 8) {
    const std::uint64_t word = load_word(at);
    absorb_word(rest_ | word << shift);
    // A shift by the full width has no meaning in C++.
    rest_ = shift == 0 ? 0 : word >> (64 - shift);
  }
  const std::uint64_t tail = load_tail(at, left);
  const auto filled = shift / 8 + left;
  const std::uint64_t word = rest_ | tail << shift;
  if (filled < 8) {
    rest_ = word;
    return;
  }
  absorb_word(word);
  rest_ = shift == 0 ? 0 : tail >> (64 - shift);
}

std::uint64_t SipHash24::finish() {
  absorb_word(rest_ | bytes_ << 56);
  v2_ ^= 0xff;
  for (int i = 0; i < 4; ++i) round();
  return v0_ ^ v1_ ^ v2_ ^ v3_;
}

void SipHash24::absorb_word(std::uint64_t word) {
  v3_ ^= word;
  round();
  round();
  v0_ ^= word;
}

void SipHash24::round() {
  v0_ += v1_;
  v2_ += v3_;
  v1_ = std::rotl(v1_, 13) ^ v0_;
  v3_ = std::rotl(v3_, 16) ^ v2_;
  v0_ = std::rotl(v0_, 32);
  v2_ += v1_;
  v0_ += v3_;
  v1_ = std::rotl(v1_, 17) ^ v2_;
  v3_ = std::rotl(v3_, 21) ^ v0_;
  v2_ = std::rotl(v2_, 32);
}

}  // namespace gyre::storage

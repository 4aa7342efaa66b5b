// The inner loops of every string: pass over bytes that stand for themselves, a block at a time, up
// to the first that needs thought (a quote, a backslash or a control character below U+0020).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace gyre::nostr {

#if defined(__SSE2__)

inline constexpr std::size_t kBlockBytes = 16;

// Bit i is set if byte i of the block needs thought.
inline std::uint32_t special_bits(__m128i block) {
  const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(block, _mm_set1_epi8(0x1f)), block);
  const __m128i quote = _mm_cmpeq_epi8(block, _mm_set1_epi8('"'));
  const __m128i backslash = _mm_cmpeq_epi8(block, _mm_set1_epi8('\\'));
  return static_cast<std::uint32_t>(
      _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(control, quote), backslash)));
}

// Copies kBlockBytes from `in` to `out`, whatever they are, and returns how many of the first of
// them stand for themselves (0 ... kBlockBytes). Both must have kBlockBytes.
inline std::size_t copy_block(const char* in, char* out) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(out), block);
  return static_cast<std::size_t>(std::countr_zero(special_bits(block) | 0x1'0000u));
}

// The same without a copy.
inline std::size_t skip_block(const char* in) {
  const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  return static_cast<std::size_t>(std::countr_zero(special_bits(block) | 0x1'0000u));
}

#else

inline constexpr std::size_t kBlockBytes = 8;

// As above.
inline std::size_t skip_block(const char* in) {
  static_assert(std::endian::native == std::endian::little);
  constexpr std::uint64_t kOnes = 0x0101'0101'0101'0101u;
  constexpr std::uint64_t kHighBits = kOnes * 0x80u;
  std::uint64_t block;
  std::memcpy(&block, in, sizeof block);
  // Borrows make bits above the lowest true one unreliable; only the lowest is used.
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word; };
  const std::uint64_t control = (block - kOnes * 0x20u) & ~block;
  const std::uint64_t quote = zeros(block ^ (kOnes * '"'));
  const std::uint64_t backslash = zeros(block ^ (kOnes * '\\'));
  const std::uint64_t special = (control | quote | backslash) & kHighBits;
  return static_cast<std::size_t>(std::countr_zero(special)) / 8;
}

inline std::size_t copy_block(const char* in, char* out) {
  std::memcpy(out, in, kBlockBytes);
  return skip_block(in);
}

#endif

// Copies what stands for itself, block by block, and moves `in` and `out` behind it: to the first
// byte that needs thought, or to where less than a block is left before `end`. As many bytes as
// are left must fit at `out`, since the last block may be copied whole.
inline void copy_plain(const char*& in, const char* end, char*& out) {
  while (end - in >= static_cast<std::ptrdiff_t>(kBlockBytes)) {
    const std::size_t plain = copy_block(in, out);
    in += plain;
    out += plain;
    if (plain < kBlockBytes) return;
  }
}

// The same without a copy.
inline void skip_plain(const char*& in, const char* end) {
  while (end - in >= static_cast<std::ptrdiff_t>(kBlockBytes)) {
    const std::size_t plain = skip_block(in);
    in += plain;
    if (plain < kBlockBytes) return;
  }
}

}  // namespace gyre::nostr

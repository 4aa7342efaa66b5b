// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed 64-bit hash whose collisions cannot be aimed
// at without the key.
#pragma once

#include <cstdint>

#include "gyre/base/bytes.h"

namespace gyre::storage {

// Hashes the concatenation of what is absorbed; where the parts are cut makes no difference.
class SipHash24 {
 public:
  // The key's 16 bytes as two little-endian numbers.
  SipHash24(std::uint64_t key0, std::uint64_t key1);

  void absorb(ByteSpan bytes);
  [[nodiscard]] std::uint64_t finish();

 private:
  // By value in the loops, so that it stays in registers.
  struct State {
    std::uint64_t v0, v1, v2, v3;
    void absorb_word(std::uint64_t word);
    void round();
  };

  State state_;
  std::uint64_t rest_ = 0;  // The last bytes_ % 8 bytes, lowest first; zeros above.
  std::uint64_t bytes_ = 0;
};

}  // namespace gyre::storage

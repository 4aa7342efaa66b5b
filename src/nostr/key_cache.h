// KeyCache: x-only public keys in the form that libsecp256k1 computes with.
//
// Turning 32 bytes into a point costs a square root, about a tenth of a verification, and a relay
// sees the same authors again and again. The cache is a fixed array of small sets; a full set
// forgets its oldest key. Which set a key belongs to depends on a secret of this process, so nobody
// can choose keys that push the others out of one set.
#pragma once

#include <secp256k1_extrakeys.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "gyre/base/bytes.h"

namespace gyre::nostr {

class KeyCache {
 public:
  static constexpr std::uint32_t kSlotsMax = 1u << 24;  // 1.5 GiB.

  // `slots` (at most kSlotsMax) is rounded up to a power of two; 0 remembers nothing. `secret` must
  // be unpredictable.
  KeyCache(std::uint32_t slots, std::array<std::uint64_t, 2> secret);

  // The parsed form of `key`, or nullptr if it is not the x of a point on the curve. Valid until
  // the next call.
  [[nodiscard]] const secp256k1_xonly_pubkey* find_or_parse(const Bytes32& key);

  [[nodiscard]] std::uint64_t hits() const { return hits_; }
  [[nodiscard]] std::uint32_t slot_count() const { return set_count_ * kWays; }

 private:
  static constexpr std::uint32_t kWays = 4;

  struct Slot {
    Bytes32 key;
    secp256k1_xonly_pubkey parsed;
  };
  static_assert(sizeof(Slot) == 96);

  struct Set {
    std::uint8_t used = 0;
    std::uint8_t oldest = 0;  // Where the next key goes once all ways are used.
  };

  [[nodiscard]] std::uint32_t set_of(const Bytes32& key) const;

  std::uint32_t set_count_;
  std::array<std::uint64_t, 2> secret_;
  std::unique_ptr<Slot[]> slots_;
  std::unique_ptr<Set[]> sets_;
  secp256k1_xonly_pubkey uncached_;
  std::uint64_t hits_ = 0;
};

}  // namespace gyre::nostr

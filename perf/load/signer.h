// Signer: one author's key. And the cost of checking what signers make, which is the unit (V) in
// which the relay's own cost is told.
#pragma once

#include <secp256k1_extrakeys.h>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gyre::load {

using Bytes32 = std::array<std::uint8_t, 32>;
using Signature = std::array<std::uint8_t, 64>;

[[nodiscard]] Bytes32 sha256(std::string_view text);

class Signer {
 public:
  // The key that follows from the text; the same text gives the same key.
  explicit Signer(std::string_view seed_text);

  [[nodiscard]] const std::string& pubkey_hex() const { return pubkey_hex_; }
  [[nodiscard]] const Bytes32& pubkey() const { return pubkey_; }
  // Deterministic: no auxiliary randomness. May be called from several threads.
  [[nodiscard]] Signature sign(const Bytes32& message) const;

 private:
  secp256k1_keypair keypair_;
  Bytes32 pubkey_;
  std::string pubkey_hex_;
};

// One bare BIP-340 verification with the parsing of its key, in CPU time of this thread.
struct VerificationCost {
  double mean_us = 0;
  double min_us = 0;  // Mean of the fastest of many short runs: what it costs undisturbed.
};
[[nodiscard]] VerificationCost measure_verification();

}  // namespace gyre::load

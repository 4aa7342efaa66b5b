// Signatures: BIP-340 over the 32 bytes of an event id.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "gyre/base/bytes.h"
#include "gyre/nostr/packed_event.h"

namespace gyre::nostr {

// The SHA-256 of the canonical form of the event (NIP-01) computed from its packed JSON.
[[nodiscard]] Bytes32 compute_id(PackedEventView event);

[[nodiscard]] Bytes32 sha256(ByteSpan bytes);

struct SignatureCheck {
  PackedEventView event;  // In.
  bool is_valid = false;  // Out.
};

// Verifies batches. One verifier belongs to one shard; it remembers parsed public keys, which saves
// about a tenth of the work for authors seen before. A bad signature costs no more than a good one.
class SignatureVerifier {
 public:
  virtual ~SignatureVerifier() = default;
  virtual void verify(std::span<SignatureCheck> checks) = 0;
};

// On libsecp256k1. `key_cache_slots` (at most 2^24) is rounded up to a power of two, 96 bytes
// each; 0 remembers no keys.
[[nodiscard]] std::unique_ptr<SignatureVerifier> make_signature_verifier(
    std::uint32_t key_cache_slots);

}  // namespace gyre::nostr

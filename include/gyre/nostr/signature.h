// Signature: a BIP-340 signature over 32 bytes, as of an event id.
#pragma once

#include <array>
#include <cstdint>

#include "gyre/base/bytes.h"

namespace gyre::nostr {

using Signature = std::array<std::uint8_t, 64>;

// True if `signature` was made over `message` with the secret key of `pubkey` (x-only, BIP-340).
// Any bytes may be given. Whoever checks many at once takes SignatureVerifier (verify.h), which
// remembers keys.
[[nodiscard]] bool verify_signature(const Bytes32& pubkey, const Bytes32& message,
                                    const Signature& signature);

}  // namespace gyre::nostr

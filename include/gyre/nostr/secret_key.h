// SecretKey: a secp256k1 key that signs (BIP-340) and agrees on shared secrets, and wipes itself.
//
// The secret lies in one object and nowhere else: it cannot be copied, moving it leaves nothing
// behind, and the destructor overwrites it in a way that compilers do not optimise away. Making one
// costs as much as a signature, since the public key is derived at once.
//
// One key may be used by several threads at once.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "gyre/base/bytes.h"
#include "gyre/base/random.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/signature.h"

namespace gyre::nostr {

// Overwrites `bytes` bytes, whatever the compiler thinks of it (explicit_bzero).
void wipe(void* memory, std::size_t bytes);

class SecretKey {
 public:
  // A new one. `random` must be unpredictable.
  [[nodiscard]] static SecretKey generate(Random& random);

  // From 32 bytes, most significant first; nothing if they are 0 or not below the group's order.
  // The caller wipes its own copy.
  [[nodiscard]] static std::optional<SecretKey> from_bytes(const Bytes32& bytes);

  // From 64 lower-case hex digits or an nsec (NIP-19).
  static DecodeError parse(std::string_view text, std::optional<SecretKey>& key);

  ~SecretKey() { wipe(this, sizeof *this); }
  SecretKey(SecretKey&& other) noexcept;
  SecretKey& operator=(SecretKey&& other) noexcept;
  SecretKey(const SecretKey&) = delete;
  SecretKey& operator=(const SecretKey&) = delete;

  // x-only (BIP-340).
  [[nodiscard]] const Bytes32& public_key() const { return public_key_; }

  // The secret itself, for the one who must store it.
  [[nodiscard]] const Bytes32& bytes() const { return bytes_; }

  // BIP-340 over 32 bytes. With the same `auxiliary` randomness (any 32 bytes, BIP-340 wants them
  // fresh as a defence against fault attacks) it gives the same signature.
  [[nodiscard]] Signature sign(const Bytes32& message, const Bytes32& auxiliary) const;
  [[nodiscard]] Signature sign(const Bytes32& message, Random& random) const;

  // Sets pubkey, id and sig of an event whose other members are as they shall be.
  void sign(Event& event, Random& random) const;

  // The x coordinate of the product with the point of even y whose x is `public_key`, unhashed, as
  // NIP-04 and NIP-44 use it; nothing if there is no such point. The caller wipes it.
  [[nodiscard]] std::optional<Bytes32> shared_x(const Bytes32& public_key) const;

 private:
  SecretKey() = default;

  Bytes32 bytes_;
  Bytes32 public_key_;
  // libsecp256k1's form of both (secp256k1_keypair).
  alignas(8) std::array<std::uint8_t, 96> pair_;
};

}  // namespace gyre::nostr

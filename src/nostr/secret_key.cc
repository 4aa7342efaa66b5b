#include "gyre/nostr/secret_key.h"

#include <secp256k1_ecdh.h>
#include <secp256k1_extrakeys.h>
#include <secp256k1_schnorrsig.h>
#include <string.h>

#include <new>

#include "gyre/base/assert.h"
#include "gyre/nostr/entity.h"

namespace gyre::nostr {
namespace {

static_assert(sizeof(secp256k1_keypair) == 96);

// Signing works with random blinding of the secret (secp256k1_context_randomize), so a context is
// made once; it is only read after that, which the library allows from several threads.
const secp256k1_context* signing_context() {
  static const secp256k1_context* const context = [] {
    secp256k1_context* const made = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
    std::array<std::uint8_t, 32> seed;
    SystemRandom().fill(seed);
    const int is_randomized = secp256k1_context_randomize(made, seed.data());
    GYRE_ASSERT_CMP(is_randomized, ==, 1);
    wipe(seed.data(), seed.size());
    return made;
  }();
  return context;
}

const secp256k1_keypair* pair_of(const std::array<std::uint8_t, 96>& bytes) {
  return reinterpret_cast<const secp256k1_keypair*>(bytes.data());
}

// Takes the x coordinate of the product as it is.
int copy_x(unsigned char* out, const unsigned char* x, const unsigned char*, void*) {
  memcpy(out, x, 32);
  return 1;
}

}  // namespace

void wipe(void* memory, std::size_t bytes) {
  if (bytes != 0) explicit_bzero(memory, bytes);
}

SecretKey SecretKey::generate(Random& random) {
  for (;;) {
    Bytes32 bytes;
    random.fill(bytes.bytes);
    std::optional<SecretKey> key = from_bytes(bytes);
    wipe(&bytes, sizeof bytes);
    // All but one in 2^128 are below the order.
    if (key) return *std::move(key);
  }
}

std::optional<SecretKey> SecretKey::from_bytes(const Bytes32& bytes) {
  SecretKey key;
  const secp256k1_context* const context = signing_context();
  auto* const pair = new (key.pair_.data()) secp256k1_keypair;
  if (secp256k1_keypair_create(context, pair, bytes.bytes.data()) != 1) return std::nullopt;
  key.bytes_ = bytes;
  secp256k1_xonly_pubkey xonly;
  const int is_known = secp256k1_keypair_xonly_pub(context, &xonly, nullptr, pair);
  GYRE_ASSERT_CMP(is_known, ==, 1);
  secp256k1_xonly_pubkey_serialize(context, key.public_key_.bytes.data(), &xonly);
  return key;
}

DecodeError SecretKey::parse(std::string_view text, std::optional<SecretKey>& key) {
  key.reset();
  Bytes32 bytes;
  if (!text.starts_with("nsec1") && !text.starts_with("NSEC1")) {
    if (text.size() != 64 || !hex_decode(text, bytes.bytes.data())) {
      wipe(&bytes, sizeof bytes);
      return DecodeError::kBadHex;
    }
  } else {
    Entity entity;
    const DecodeError error = parse_entity(text, entity);
    bytes = entity.key;
    wipe(&entity.key, sizeof entity.key);
    if (error != DecodeError::kNone) return error;
  }
  key = from_bytes(bytes);
  wipe(&bytes, sizeof bytes);
  return key ? DecodeError::kNone : DecodeError::kBadKey;
}

SecretKey::SecretKey(SecretKey&& other) noexcept
    : bytes_(other.bytes_), public_key_(other.public_key_), pair_(other.pair_) {
  wipe(&other, sizeof other);
}

SecretKey& SecretKey::operator=(SecretKey&& other) noexcept {
  if (this == &other) return *this;
  bytes_ = other.bytes_;
  public_key_ = other.public_key_;
  pair_ = other.pair_;
  wipe(&other, sizeof other);
  return *this;
}

Signature SecretKey::sign(const Bytes32& message, const Bytes32& auxiliary) const {
  Signature signature;
  const int is_signed =
      secp256k1_schnorrsig_sign32(signing_context(), signature.data(), message.bytes.data(),
                                  pair_of(pair_), auxiliary.bytes.data());
  GYRE_ASSERT_CMP(is_signed, ==, 1);
  return signature;
}

Signature SecretKey::sign(const Bytes32& message, Random& random) const {
  Bytes32 auxiliary;
  random.fill(auxiliary.bytes);
  return sign(message, auxiliary);
}

void SecretKey::sign(Event& event, Random& random) const {
  event.pubkey = public_key_;
  event.id = compute_id(event);
  event.sig = sign(event.id, random);
}

std::optional<Bytes32> SecretKey::shared_x(const Bytes32& public_key) const {
  // The even y is what the first byte says.
  std::array<std::uint8_t, 33> compressed;
  compressed[0] = 2;
  memcpy(compressed.data() + 1, public_key.bytes.data(), 32);
  secp256k1_pubkey point;
  if (secp256k1_ec_pubkey_parse(secp256k1_context_static, &point, compressed.data(),
                                compressed.size()) != 1) {
    return std::nullopt;
  }
  Bytes32 x;
  const int is_made = secp256k1_ecdh(signing_context(), x.bytes.data(), &point, bytes_.bytes.data(),
                                     copy_x, nullptr);
  GYRE_ASSERT_CMP(is_made, ==, 1);
  return x;
}

}  // namespace gyre::nostr

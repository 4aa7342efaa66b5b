#include "gyre/nostr/key_search.h"

#include <secp256k1.h>

#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::nostr {
namespace {

constexpr std::size_t kCompressedBytes = 33;

// The generator itself: the public key of the secret 1.
secp256k1_pubkey generator(const secp256k1_context* context) {
  Bytes32 one;
  one.bytes[31] = 1;
  secp256k1_pubkey point;
  const int is_made = secp256k1_ec_pubkey_create(context, &point, one.bytes.data());
  GYRE_ASSERT_CMP(is_made, ==, 1);
  return point;
}

}  // namespace

struct KeySearch::Points {
  secp256k1_context* context = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  secp256k1_pubkey step = generator(context);
  secp256k1_pubkey current;

  Points() = default;
  ~Points() { secp256k1_context_destroy(context); }
  Points(const Points&) = delete;
  Points& operator=(const Points&) = delete;
};

KeySearch::KeySearch(Random& random) : random_(random), points_(std::make_unique<Points>()) {
  start_over();
}

KeySearch::~KeySearch() { wipe(&start_, sizeof start_); }

void KeySearch::start_over() {
  do {
    random_.fill(start_.bytes);
  } while (secp256k1_ec_pubkey_create(points_->context, &points_->current, start_.bytes.data()) !=
           1);
  offset_ = 0;
}

const Bytes32& KeySearch::next() {
  const secp256k1_pubkey before = points_->current;
  const secp256k1_pubkey* const summands[] = {&before, &points_->step};
  // The sum is no point only where the secret would be 0.
  if (secp256k1_ec_pubkey_combine(points_->context, &points_->current, summands, 2) == 1) {
    ++offset_;
  } else {
    start_over();
  }
  std::array<std::uint8_t, kCompressedBytes> compressed;
  std::size_t bytes = compressed.size();
  secp256k1_ec_pubkey_serialize(points_->context, compressed.data(), &bytes, &points_->current,
                                SECP256K1_EC_COMPRESSED);
  std::memcpy(public_key_.bytes.data(), compressed.data() + 1, public_key_.bytes.size());
  return public_key_;
}

SecretKey KeySearch::secret_key() const {
  Bytes32 secret = start_;
  if (offset_ != 0) {
    Bytes32 tweak;
    for (std::size_t i = 0; i < 8; ++i) {
      tweak.bytes[31 - i] = static_cast<std::uint8_t>(offset_ >> (8 * i));
    }
    const int is_valid =
        secp256k1_ec_seckey_tweak_add(points_->context, secret.bytes.data(), tweak.bytes.data());
    GYRE_ASSERT_CMP(is_valid, ==, 1);
  }
  std::optional<SecretKey> key = SecretKey::from_bytes(secret);
  wipe(&secret, sizeof secret);
  GYRE_ASSERT(key.has_value());
  GYRE_ASSERT(key->public_key() == public_key_);
  return *std::move(key);
}

}  // namespace gyre::nostr

#include "gyre/nostr/verify.h"

// Deprecated in favour of the EVP interface, whose context must be allocated, carried about and set
// up for each hash: a sixth more for the few hundred bytes of an event. The code inside is the
// same.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <secp256k1_schnorrsig.h>

#include <array>
#include <charconv>
#include <cstring>

#include "gyre/base/random.h"
#include "nostr/hex_words.h"
#include "nostr/key_cache.h"

namespace gyre::nostr {
namespace {

class Secp256k1Verifier final : public SignatureVerifier {
 public:
  explicit Secp256k1Verifier(std::uint32_t key_cache_slots, Random& random)
      : keys_(key_cache_slots, {random.next_u64(), random.next_u64()}) {}

  void verify(std::span<SignatureCheck> checks) override {
    for (SignatureCheck& check : checks) check.is_valid = is_valid(check.event);
  }

 private:
  [[nodiscard]] bool is_valid(PackedEventView event) {
    const secp256k1_xonly_pubkey* const key = keys_.find_or_parse(event.pubkey());
    if (key == nullptr) return false;
    std::array<std::uint8_t, 64> signature;
    decode_hex_words(event.sig_hex(), signature.data());
    const Bytes32 id = event.id();
    return secp256k1_schnorrsig_verify(secp256k1_context_static, signature.data(), id.bytes.data(),
                                       id.bytes.size(), key) == 1;
  }

  KeyCache keys_;
};

// Decimal digits of `value` behind `out`.
char* append_number(char* out, std::uint64_t value) {
  return std::to_chars(out, out + 20, value).ptr;
}

}  // namespace

Bytes32 sha256(ByteSpan bytes) {
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, bytes.data(), bytes.size());
  Bytes32 digest;
  SHA256_Final(digest.bytes.data(), &context);
  return digest;
}

// [0,"<pubkey>",<created_at>,<kind>,<tags>,"<content>"]
Bytes32 compute_id(PackedEventView event) {
  std::array<char, 4 + 64 + 2 + 20 + 1 + 5 + 1> front;
  std::memcpy(front.data(), "[0,\"", 4);
  std::memcpy(front.data() + 4, event.pubkey_hex().data(), 64);
  std::memcpy(front.data() + 68, "\",", 2);
  char* end = append_number(front.data() + 70, event.created_at());
  *end++ = ',';
  end = append_number(end, event.kind());
  *end++ = ',';

  const std::string_view tags = event.tags_json();
  const std::string_view content = event.content_json();
  SHA256_CTX context;
  SHA256_Init(&context);
  SHA256_Update(&context, front.data(), static_cast<std::size_t>(end - front.data()));
  SHA256_Update(&context, tags.data(), tags.size());
  SHA256_Update(&context, ",", 1);
  SHA256_Update(&context, content.data(), content.size());
  SHA256_Update(&context, "]", 1);
  Bytes32 digest;
  SHA256_Final(digest.bytes.data(), &context);
  return digest;
}

std::unique_ptr<SignatureVerifier> make_signature_verifier(std::uint32_t key_cache_slots) {
  SystemRandom random;
  return std::make_unique<Secp256k1Verifier>(key_cache_slots, random);
}

}  // namespace gyre::nostr

// NIP-44, NIP-04, keys and signatures.

#include <string>
#include <vector>

#include "gyre/nostr/key_search.h"
#include "gyre/nostr/nip04.h"
#include "gyre/nostr/nip44.h"
#include "gyre/nostr/secret_key.h"
#include "micro/measure.h"
#include "micro/samples.h"
#include "nostr/cipher.h"
#include "nostr/hmac_sha256.h"
#include "nostr/message_keys.h"

namespace gyre::perf {
namespace {

using nostr::ConversationKey;
using nostr::DecodeError;
using nostr::Nip04;
using nostr::Nip44;
using nostr::SecretKey;

SecretKey numbered_secret(std::uint32_t number) {
  return *SecretKey::from_bytes(numbered_key(number));
}

// As wide as the published ones: 1, 50 and 4096 characters.
std::string text_of(std::size_t bytes) { return std::string(bytes, 'x'); }

void nip44_encrypt(benchmark::State& state, std::size_t bytes) {
  const ConversationKey key(numbered_key(1));
  const std::string text = text_of(bytes);
  SystemRandom random;
  Nip44 nip44;
  std::string payload;
  measure(state, [&] { benchmark::DoNotOptimize(nip44.encrypt(key, text, random, payload)); });
  std::string back;
  require(nip44.decrypt(key, payload, back) == DecodeError::kNone && back == text, "wrong text");
}

void nip44_decrypt(benchmark::State& state, std::size_t bytes) {
  const ConversationKey key(numbered_key(1));
  SystemRandom random;
  Nip44 nip44;
  std::string payload;
  std::string back;
  require(nip44.encrypt(key, text_of(bytes), random, payload) == DecodeError::kNone, "no payload");
  measure(state, [&] { benchmark::DoNotOptimize(nip44.decrypt(key, payload, back)); });
  require(back == text_of(bytes), "wrong text");
}

void nip44_round_trip(benchmark::State& state) {
  const ConversationKey key(numbered_key(1));
  const std::string text = text_of(50);
  SystemRandom random;
  Nip44 nip44;
  std::string payload;
  std::string back;
  measure(state, [&] {
    benchmark::DoNotOptimize(nip44.encrypt(key, text, random, payload));
    benchmark::DoNotOptimize(nip44.decrypt(key, payload, back));
  });
  require(back == text, "wrong text");
}

void nip04_encrypt(benchmark::State& state) {
  Nip04 nip04(numbered_key(1));
  const std::string text = text_of(50);
  SystemRandom random;
  std::string payload;
  measure(state, [&] { benchmark::DoNotOptimize(nip04.encrypt(text, random, payload)); });
  std::string back;
  require(nip04.decrypt(payload, back) == DecodeError::kNone && back == text, "wrong text");
}

void nip04_decrypt(benchmark::State& state) {
  Nip04 nip04(numbered_key(1));
  const std::string text = text_of(50);
  SystemRandom random;
  std::string payload;
  std::string back;
  require(nip04.encrypt(text, random, payload) == DecodeError::kNone, "no payload");
  measure(state, [&] { benchmark::DoNotOptimize(nip04.decrypt(payload, back)); });
  require(back == text, "wrong text");
}

void nip04_round_trip(benchmark::State& state) {
  Nip04 nip04(numbered_key(1));
  const std::string text = text_of(50);
  SystemRandom random;
  std::string payload;
  std::string back;
  measure(state, [&] {
    benchmark::DoNotOptimize(nip04.encrypt(text, random, payload));
    benchmark::DoNotOptimize(nip04.decrypt(payload, back));
  });
  require(back == text, "wrong text");
}

void conversation_key(benchmark::State& state) {
  const SecretKey secret = numbered_secret(1);
  const SecretKey other = numbered_secret(2);
  require(ConversationKey::derive(secret, other.public_key())->bytes() ==
              ConversationKey::derive(other, secret.public_key())->bytes(),
          "both sides differ");
  measure(state,
          [&] { benchmark::DoNotOptimize(ConversationKey::derive(secret, other.public_key())); });
}

void padded_bytes(benchmark::State& state) {
  require(nostr::nip44_padded_bytes(515) == 640, "the length is wrong");
  std::size_t bytes = 515;
  measure(state, [&] {
    benchmark::DoNotOptimize(bytes);
    benchmark::DoNotOptimize(nostr::nip44_padded_bytes(bytes));
  });
}

void message_keys(benchmark::State& state) {
  nostr::MessageKeys keys;
  const std::vector<std::uint8_t> one = {1};
  const Bytes32 key = numbered_key(1);
  const Bytes32 nonce = numbered_key(2);
  measure(state, [&] { nostr::expand_message_keys(key, nonce, keys); });
  require(keys.chacha_key == nostr::HmacSha256(key.bytes).mac({nonce.bytes, one}),
          "the keys are wrong");
}

void chacha20(benchmark::State& state) {
  nostr::Cipher cipher(nostr::CipherKind::kChaCha20, nostr::Direction::kEncrypt);
  const Bytes32 key = numbered_key(1);
  const Bytes32 iv = numbered_key(2);
  const std::vector<std::uint8_t> text(256, 'x');
  std::vector<std::uint8_t> out(256);
  measure(state, [&] { cipher.run(key.bytes.data(), iv.bytes.data(), text, out.data()); });
  cipher.run(key.bytes.data(), iv.bytes.data(), out, out.data());
  require(out == text, "wrong text");
}

void hmac(benchmark::State& state) {
  const Bytes32 key = numbered_key(1);
  const std::vector<std::uint8_t> text(256, 'x');
  measure(state,
          [&] { benchmark::DoNotOptimize(nostr::HmacSha256(key.bytes).mac({ByteSpan(text)})); });
  const ByteSpan front = ByteSpan(text).first(100);
  require(nostr::HmacSha256(key.bytes).mac({text}) ==
              nostr::HmacSha256(key.bytes).mac({front, ByteSpan(text).subspan(100)}),
          "the MAC is wrong");
}

void public_key(benchmark::State& state) {
  const Bytes32 secret = numbered_key(1);
  measure(state, [&] { benchmark::DoNotOptimize(SecretKey::from_bytes(secret)); });
  require(SecretKey::from_bytes(secret)->bytes() == secret, "the key is wrong");
}

void sign(benchmark::State& state) {
  const SecretKey key = numbered_secret(1);
  const Bytes32 message = numbered_key(2);
  const Bytes32 auxiliary = numbered_key(3);
  nostr::Signature signature{};
  measure(state, [&] { signature = key.sign(message, auxiliary); });
  require(nostr::verify_signature(key.public_key(), message, signature), "wrong signature");
}

void verify(benchmark::State& state) {
  const SecretKey key = numbered_secret(1);
  const Bytes32 message = numbered_key(2);
  const nostr::Signature signature = key.sign(message, numbered_key(3));
  require(nostr::verify_signature(key.public_key(), message, signature), "wrong signature");
  measure(state, [&] {
    benchmark::DoNotOptimize(nostr::verify_signature(key.public_key(), message, signature));
  });
}

void ecdh(benchmark::State& state) {
  const SecretKey key = numbered_secret(1);
  const SecretKey other = numbered_secret(2);
  require(key.shared_x(other.public_key()) == other.shared_x(key.public_key()), "sides differ");
  measure(state, [&] { benchmark::DoNotOptimize(key.shared_x(other.public_key())); });
}

void search_step(benchmark::State& state) {
  SystemRandom random;
  nostr::KeySearch search(random);
  Bytes32 found;
  measure(state, [&] { found = search.next(); });
  require(search.secret_key().public_key() == found, "the key is wrong");
}

BENCHMARK_CAPTURE(nip44_encrypt, normal, 50)->Name("Encryption/NIP44Encrypt");
BENCHMARK_CAPTURE(nip44_encrypt, small, 1)->Name("Encryption/NIP44EncryptSmall");
BENCHMARK_CAPTURE(nip44_encrypt, large, 4'096)->Name("Encryption/NIP44EncryptLarge");
BENCHMARK_CAPTURE(nip44_decrypt, normal, 50)->Name("Encryption/NIP44Decrypt");
BENCHMARK_CAPTURE(nip44_decrypt, small, 1)->Name("Encryption/NIP44DecryptSmall");
BENCHMARK_CAPTURE(nip44_decrypt, large, 4'096)->Name("Encryption/NIP44DecryptLarge");
BENCHMARK(nip44_round_trip)->Name("Encryption/NIP44RoundTrip");
BENCHMARK(nip04_encrypt)->Name("Encryption/NIP4Encrypt");
BENCHMARK(nip04_decrypt)->Name("Encryption/NIP4Decrypt");
BENCHMARK(nip04_round_trip)->Name("Encryption/NIP4RoundTrip");
BENCHMARK(conversation_key)->Name("Encryption/GenerateConversationKey");
BENCHMARK(padded_bytes)->Name("Encryption/CalcPadding");
BENCHMARK(message_keys)->Name("Encryption/GetKeys");
BENCHMARK(chacha20)->Name("Encryption/EncryptInternal");
BENCHMARK(hmac)->Name("Encryption/SHA256Hmac");
BENCHMARK(public_key)->Name("Signer/PublicKeyDerivation");
BENCHMARK(sign)->Name("Signer/SchnorrSign");
BENCHMARK(verify)->Name("Signer/SchnorrVerify");
BENCHMARK(ecdh)->Name("Signer/ECDH");
BENCHMARK(search_step)->Name("Signer/KeySearchStep");

}  // namespace
}  // namespace gyre::perf

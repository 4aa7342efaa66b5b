#include "gyre/nostr/nip44.h"

#include <openssl/crypto.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/nostr/base64.h"
#include "nostr/cipher.h"
#include "nostr/hmac_sha256.h"
#include "nostr/message_keys.h"

namespace gyre::nostr {
namespace {

constexpr std::uint8_t kVersion = 2;
constexpr std::size_t kNonceBytes = 32;
constexpr std::size_t kMacBytes = 32;
constexpr std::size_t kLengthBytes = 2;
constexpr std::size_t kFrontBytes = 1 + kNonceBytes;
constexpr std::size_t kAroundBytes = kFrontBytes + kMacBytes;

std::size_t payload_bytes(std::size_t text_bytes) {
  return kAroundBytes + kLengthBytes + nip44_padded_bytes(text_bytes);
}

}  // namespace

std::optional<ConversationKey> ConversationKey::derive(const SecretKey& secret_key,
                                                       const Bytes32& public_key) {
  std::optional<Bytes32> shared = secret_key.shared_x(public_key);
  if (!shared) return std::nullopt;
  // HKDF-extract: the salt is the key.
  Bytes32 extracted = HmacSha256(as_bytes("nip44-v2")).mac({shared->bytes});
  wipe(&*shared, sizeof *shared);
  std::optional<ConversationKey> key(std::in_place, extracted);
  wipe(&extracted, sizeof extracted);
  return key;
}

std::size_t nip44_padded_bytes(std::size_t text_bytes) {
  GYRE_ASSERT_CMP(text_bytes, >, 0u);
  GYRE_ASSERT_CMP(text_bytes, <=, kNip44TextBytesMax);
  if (text_bytes <= 32) return 32;
  const std::size_t chunk = std::max<std::size_t>(32, std::bit_ceil(text_bytes) / 8);
  return (text_bytes + chunk - 1) / chunk * chunk;
}

std::size_t nip44_payload_chars(std::size_t text_bytes) {
  return base64_chars(payload_bytes(text_bytes));
}

void expand_message_keys(const Bytes32& conversation_key, const Bytes32& nonce, MessageKeys& keys) {
  const HmacSha256 hmac(conversation_key.bytes);
  const std::uint8_t counter[] = {1, 2, 3};
  Bytes32 first = hmac.mac({nonce.bytes, ByteSpan(counter, 1)});
  Bytes32 second = hmac.mac({first.bytes, nonce.bytes, ByteSpan(counter + 1, 1)});
  Bytes32 third = hmac.mac({second.bytes, nonce.bytes, ByteSpan(counter + 2, 1)});
  keys.chacha_key = first;
  keys.chacha_iv.fill(0);
  std::memcpy(keys.chacha_iv.data() + 4, second.bytes.data(), 12);
  std::memcpy(keys.hmac_key.bytes.data(), second.bytes.data() + 12, 20);
  std::memcpy(keys.hmac_key.bytes.data() + 20, third.bytes.data(), 12);
  wipe(&first, sizeof first);
  wipe(&second, sizeof second);
  wipe(&third, sizeof third);
}

class Nip44::Impl {
 public:
  DecodeError encrypt(const ConversationKey& key, std::string_view text, const Bytes32& nonce,
                      std::string& payload) {
    if (text.empty()) return DecodeError::kTooShort;
    if (text.size() > kNip44TextBytesMax) return DecodeError::kTooLong;
    expand_message_keys(key.bytes(), nonce, keys_);
    buffer_.resize(payload_bytes(text.size()));
    std::uint8_t* const padded = buffer_.data() + kFrontBytes;
    const std::size_t padded_bytes = buffer_.size() - kAroundBytes;
    buffer_[0] = kVersion;
    std::memcpy(buffer_.data() + 1, nonce.bytes.data(), kNonceBytes);
    padded[0] = static_cast<std::uint8_t>(text.size() >> 8);
    padded[1] = static_cast<std::uint8_t>(text.size());
    std::memcpy(padded + kLengthBytes, text.data(), text.size());
    std::memset(padded + kLengthBytes + text.size(), 0, padded_bytes - kLengthBytes - text.size());
    cipher_.run(keys_.chacha_key.bytes.data(), keys_.chacha_iv.data(), {padded, padded_bytes},
                padded);
    const Bytes32 mac = mac_of(buffer_);
    std::memcpy(padded + padded_bytes, mac.bytes.data(), kMacBytes);
    payload.resize(base64_chars(buffer_.size()));
    write_base64(buffer_, payload.data());
    return DecodeError::kNone;
  }

  DecodeError decrypt(const ConversationKey& key, std::string_view payload, std::string& text) {
    if (payload.empty() || payload.front() == '#') return DecodeError::kBadVersion;
    if (payload.size() < kNip44PayloadCharsMin) return DecodeError::kTooShort;
    if (payload.size() > kNip44PayloadCharsMax) return DecodeError::kTooLong;
    buffer_.resize(base64_bytes_max(payload.size()));
    const std::optional<std::size_t> bytes = parse_base64(payload, buffer_.data());
    if (!bytes) return DecodeError::kBadBase64;
    buffer_.resize(*bytes);
    if (buffer_[0] != kVersion) return DecodeError::kBadVersion;
    // The shortest payload that is long enough in characters has 97 bytes; the least padded text
    // makes 99.
    if (buffer_.size() < payload_bytes(1)) return DecodeError::kTooShort;
    Bytes32 nonce;
    std::memcpy(nonce.bytes.data(), buffer_.data() + 1, kNonceBytes);
    expand_message_keys(key.bytes(), nonce, keys_);
    const Bytes32 mac = mac_of(buffer_);
    const std::uint8_t* const sent_mac = buffer_.data() + buffer_.size() - kMacBytes;
    if (CRYPTO_memcmp(mac.bytes.data(), sent_mac, kMacBytes) != 0) return DecodeError::kBadMac;
    std::uint8_t* const padded = buffer_.data() + kFrontBytes;
    const std::size_t padded_bytes = buffer_.size() - kAroundBytes;
    cipher_.run(keys_.chacha_key.bytes.data(), keys_.chacha_iv.data(), {padded, padded_bytes},
                padded);
    const DecodeError error = take_text({padded, padded_bytes}, text);
    wipe(padded, padded_bytes);
    return error;
  }

 private:
  // Of the nonce and what is between it and the MAC's place.
  [[nodiscard]] Bytes32 mac_of(ByteSpan whole) const {
    const HmacSha256 hmac(keys_.hmac_key.bytes);
    return hmac.mac({whole.subspan(1, whole.size() - 1 - kMacBytes)});
  }

  static DecodeError take_text(ByteSpan padded, std::string& text) {
    const std::size_t bytes = static_cast<std::size_t>(padded[0]) << 8 | padded[1];
    if (bytes == 0 || padded.size() != kLengthBytes + nip44_padded_bytes(bytes)) {
      return DecodeError::kBadPadding;
    }
    text.assign(as_text(padded.subspan(kLengthBytes, bytes)));
    return DecodeError::kNone;
  }

  // ChaCha20 is its own inverse.
  Cipher cipher_{CipherKind::kChaCha20, Direction::kEncrypt};
  MessageKeys keys_;
  std::vector<std::uint8_t> buffer_;
};

Nip44::Nip44() : impl_(std::make_unique<Impl>()) {}
Nip44::~Nip44() = default;

DecodeError Nip44::encrypt(const ConversationKey& key, std::string_view text, Random& random,
                           std::string& payload) {
  Bytes32 nonce;
  random.fill(nonce.bytes);
  return impl_->encrypt(key, text, nonce, payload);
}

DecodeError Nip44::encrypt_with_nonce(const ConversationKey& key, std::string_view text,
                                      const Bytes32& nonce, std::string& payload) {
  return impl_->encrypt(key, text, nonce, payload);
}

DecodeError Nip44::decrypt(const ConversationKey& key, std::string_view payload,
                           std::string& text) {
  return impl_->decrypt(key, payload, text);
}

}  // namespace gyre::nostr

// NIP-44 version 2: texts for one reader, authenticated, with their length blurred.
//
//     base64( 2 | nonce 32 | ChaCha20(length 2, text, zeros) | HMAC-SHA256(nonce, ciphertext) )
//
// The key of a conversation comes from the shared x of both sides' keys, each message's keys from
// that and a random nonce (HKDF, RFC 5869). Forward secrecy there is none: whoever gets a secret
// key reads all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/base/random.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::nostr {

inline constexpr std::size_t kNip44TextBytesMax = 65'535;
inline constexpr std::size_t kNip44PayloadCharsMin = 132;
inline constexpr std::size_t kNip44PayloadCharsMax = 87'472;

// The same for both sides of a conversation. Wipes itself.
class ConversationKey {
 public:
  // Nothing if `public_key` is not the x of a point on the curve.
  [[nodiscard]] static std::optional<ConversationKey> derive(const SecretKey& secret_key,
                                                             const Bytes32& public_key);
  // One that was derived before.
  explicit ConversationKey(const Bytes32& bytes) : bytes_(bytes) {}
  ~ConversationKey() { wipe(this, sizeof *this); }
  ConversationKey(const ConversationKey&) = default;
  ConversationKey& operator=(const ConversationKey&) = default;

  [[nodiscard]] const Bytes32& bytes() const { return bytes_; }

 private:
  Bytes32 bytes_;
};

// How many bytes a text takes once zeros are added. Requires: 1 to kNip44TextBytesMax.
[[nodiscard]] std::size_t nip44_padded_bytes(std::size_t text_bytes);
// Characters of the payload that carries such a text.
[[nodiscard]] std::size_t nip44_payload_chars(std::size_t text_bytes);

// Holds what encrypting and decrypting need, so that neither allocates once it has been used. One
// object belongs to one thread.
class Nip44 {
 public:
  Nip44();
  ~Nip44();
  Nip44(const Nip44&) = delete;
  Nip44& operator=(const Nip44&) = delete;

  // Replaces what `payload` holds. kTooShort for an empty text, kTooLong above
  // kNip44TextBytesMax bytes.
  DecodeError encrypt(const ConversationKey& key, std::string_view text, Random& random,
                      std::string& payload);
  // With a nonce of the caller, for tests: one that is used twice gives the texts away.
  DecodeError encrypt_with_nonce(const ConversationKey& key, std::string_view text,
                                 const Bytes32& nonce, std::string& payload);

  // Replaces what `text` holds, by bytes that are those the writer gave: UTF-8, if he kept to the
  // specification. The MAC is compared in constant time and before anything is decrypted.
  // kBadVersion, kTooShort, kTooLong, kBadBase64, kBadMac, kBadPadding.
  DecodeError decrypt(const ConversationKey& key, std::string_view payload, std::string& text);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gyre::nostr

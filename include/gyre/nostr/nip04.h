// NIP-04: the old direct messages, for those who must read them. Nothing protects them against
// changes on the way, and the length shows: write NIP-44 instead.
//
//     base64( AES-256-CBC(text, PKCS#7 padding) ) ?iv= base64( iv 16 )
//
// The key is the shared x of both sides' keys as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gyre/base/bytes.h"
#include "gyre/base/random.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::nostr {

// Longest text that is taken in either direction: what a relay's message can hold, and more.
inline constexpr std::size_t kNip04TextBytesMax = 1 << 20;

// Holds what both directions need, so that neither allocates once it has been used. One object
// belongs to one thread and one pair of keys, and wipes itself.
class Nip04 {
 public:
  // Nothing if `public_key` is not the x of a point on the curve.
  [[nodiscard]] static std::optional<Nip04> derive(const SecretKey& secret_key,
                                                   const Bytes32& public_key);
  // With a shared x that was derived before.
  explicit Nip04(const Bytes32& shared_x);
  ~Nip04();
  Nip04(Nip04&&) noexcept;
  Nip04& operator=(Nip04&&) noexcept;

  // Replaces what `payload` holds. kTooLong above kNip04TextBytesMax.
  DecodeError encrypt(std::string_view text, Random& random, std::string& payload);
  // With an IV of the caller, for tests.
  DecodeError encrypt_with_iv(std::string_view text, ByteSpan iv, std::string& payload);

  // Replaces what `text` holds. kBadBase64 if it is no such payload, kBadPadding if key and payload
  // do not belong together (one wrong key in 256 is not noticed).
  DecodeError decrypt(std::string_view payload, std::string& text);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gyre::nostr

// HMAC with SHA-256 (RFC 2104), on libcrypto's block function. Its key is worked in once and may
// be used for many messages. Nothing is allocated, and the object wipes itself.
#pragma once

#define OPENSSL_SUPPRESS_DEPRECATED  // As in verify.cc, for the same reason.
#include <openssl/sha.h>

#include <initializer_list>

#include "gyre/base/bytes.h"

namespace gyre::nostr {

class HmacSha256 {
 public:
  // Keys of more than 64 bytes do not occur here. Requires: at most 64.
  explicit HmacSha256(ByteSpan key);
  ~HmacSha256();
  HmacSha256(const HmacSha256&) = delete;
  HmacSha256& operator=(const HmacSha256&) = delete;

  // Of all parts, one behind the other.
  [[nodiscard]] Bytes32 mac(std::initializer_list<ByteSpan> parts) const;

 private:
  SHA256_CTX inner_;
  SHA256_CTX outer_;
};

}  // namespace gyre::nostr

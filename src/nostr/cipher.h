// Cipher: one symmetric cipher of libcrypto with a context that is set up once and keyed anew for
// each message.
#pragma once

#include <cstdint>
#include <memory>

#include "gyre/base/bytes.h"

struct evp_cipher_ctx_st;

namespace gyre::nostr {

enum class CipherKind : std::uint8_t {
  kChaCha20,   // Key 32, IV 16: block counter (32 bits, little-endian), then the nonce of 12.
  kAes256Cbc,  // Key 32, IV 16; whole blocks of 16 only.
};
enum class Direction : std::uint8_t { kEncrypt, kDecrypt };

class Cipher {
 public:
  Cipher(CipherKind kind, Direction direction);
  ~Cipher();
  Cipher(const Cipher&) = delete;
  Cipher& operator=(const Cipher&) = delete;

  // Writes as many bytes as `in` has. `out` may be the same memory.
  void run(const std::uint8_t* key, const std::uint8_t* iv, ByteSpan in, std::uint8_t* out);

 private:
  Direction direction_;
  evp_cipher_ctx_st* context_;
};

}  // namespace gyre::nostr

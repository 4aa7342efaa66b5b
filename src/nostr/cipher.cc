#include "nostr/cipher.h"

#include <openssl/evp.h>

#include "gyre/base/assert.h"

namespace gyre::nostr {

Cipher::Cipher(CipherKind kind, Direction direction)
    : direction_(direction), context_(EVP_CIPHER_CTX_new()) {
  GYRE_ASSERT(context_ != nullptr);
  const EVP_CIPHER* const cipher =
      kind == CipherKind::kChaCha20 ? EVP_chacha20() : EVP_aes_256_cbc();
  const int is_ready = EVP_CipherInit_ex(context_, cipher, nullptr, nullptr, nullptr,
                                         direction == Direction::kEncrypt ? 1 : 0);
  GYRE_ASSERT_CMP(is_ready, ==, 1);
  EVP_CIPHER_CTX_set_padding(context_, 0);
}

Cipher::~Cipher() { EVP_CIPHER_CTX_free(context_); }

void Cipher::run(const std::uint8_t* key, const std::uint8_t* iv, ByteSpan in, std::uint8_t* out) {
  int bytes = 0;
  const int is_keyed = EVP_CipherInit_ex(context_, nullptr, nullptr, key, iv,
                                         direction_ == Direction::kEncrypt ? 1 : 0);
  GYRE_ASSERT_CMP(is_keyed, ==, 1);
  const int is_done =
      EVP_CipherUpdate(context_, out, &bytes, in.data(), static_cast<int>(in.size()));
  GYRE_ASSERT_CMP(is_done, ==, 1);
  GYRE_ASSERT_CMP(static_cast<std::size_t>(bytes), ==, in.size());
}

}  // namespace gyre::nostr

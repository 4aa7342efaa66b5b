#include "nostr/hmac_sha256.h"

#include <array>

#include "gyre/base/assert.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::nostr {
namespace {

constexpr std::size_t kBlockBytes = 64;

void start(SHA256_CTX& context, ByteSpan key, std::uint8_t pad) {
  std::array<std::uint8_t, kBlockBytes> block;
  block.fill(pad);
  for (std::size_t i = 0; i < key.size(); ++i) block[i] ^= key[i];
  SHA256_Init(&context);
  SHA256_Update(&context, block.data(), block.size());
  wipe(block.data(), block.size());
}

}  // namespace

HmacSha256::HmacSha256(ByteSpan key) {
  GYRE_ASSERT_CMP(key.size(), <=, kBlockBytes);
  start(inner_, key, 0x36);
  start(outer_, key, 0x5c);
}

HmacSha256::~HmacSha256() {
  wipe(&inner_, sizeof inner_);
  wipe(&outer_, sizeof outer_);
}

Bytes32 HmacSha256::mac(std::initializer_list<ByteSpan> parts) const {
  Bytes32 digest;
  SHA256_CTX context = inner_;
  for (const ByteSpan part : parts) SHA256_Update(&context, part.data(), part.size());
  SHA256_Final(digest.bytes.data(), &context);
  context = outer_;
  SHA256_Update(&context, digest.bytes.data(), digest.bytes.size());
  SHA256_Final(digest.bytes.data(), &context);
  wipe(&context, sizeof context);
  return digest;
}

}  // namespace gyre::nostr

// Payloads of NIP-44 and NIP-04: anything at all, payloads with a right MAC around a padding of the
// input's choice, and texts that must come back.

#include <fuzzer/FuzzedDataProvider.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/nostr/base64.h"
#include "gyre/nostr/nip04.h"
#include "gyre/nostr/nip44.h"
#include "nostr/cipher.h"
#include "nostr/hmac_sha256.h"
#include "nostr/message_keys.h"

namespace gyre::nostr {
namespace {

const ConversationKey kKey{Bytes32{}};
const Bytes32 kNonce{};

// A payload that its key has made, with whatever stands between nonce and MAC when decrypted.
std::string sealed(std::vector<std::uint8_t> padded) {
  MessageKeys keys;
  expand_message_keys(kKey.bytes(), kNonce, keys);
  Cipher cipher(CipherKind::kChaCha20, Direction::kEncrypt);
  cipher.run(keys.chacha_key.bytes.data(), keys.chacha_iv.data(), padded, padded.data());
  const Bytes32 mac = HmacSha256(keys.hmac_key.bytes).mac({kNonce.bytes, padded});
  std::vector<std::uint8_t> whole = {2};
  whole.insert(whole.end(), kNonce.bytes.begin(), kNonce.bytes.end());
  whole.insert(whole.end(), padded.begin(), padded.end());
  whole.insert(whole.end(), mac.bytes.begin(), mac.bytes.end());
  std::string payload(base64_chars(whole.size()), '\0');
  write_base64(whole, payload.data());
  return payload;
}

void check_decrypt(const std::string& payload) {
  Nip44 nip44;
  Nip04 nip04{Bytes32{}};
  std::string text;
  if (nip44.decrypt(kKey, payload, text) == DecodeError::kNone) {
    GYRE_ASSERT(!text.empty());
    GYRE_ASSERT_CMP(nip44_payload_chars(text.size()), ==, payload.size());
  }
  static_cast<void>(nip04.decrypt(payload, text));
  static_cast<void>(nip04.decrypt(payload + "?iv=AAECAwQFBgcICQoLDA0ODw==", text));
}

void check_round_trip(const std::string& text) {
  Nip44 nip44;
  Nip04 nip04{Bytes32{}};
  SeededRandom random(text.size());
  std::string payload;
  std::string back;
  if (nip44.encrypt(kKey, text, random, payload) == DecodeError::kNone) {
    GYRE_ASSERT(nip44.decrypt(kKey, payload, back) == DecodeError::kNone);
    GYRE_ASSERT(back == text);
  } else {
    GYRE_ASSERT(text.empty() || text.size() > kNip44TextBytesMax);
  }
  GYRE_ASSERT(nip04.encrypt(text, random, payload) == DecodeError::kNone);
  GYRE_ASSERT(nip04.decrypt(payload, back) == DecodeError::kNone);
  GYRE_ASSERT(back == text);
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gyre::nostr;
  FuzzedDataProvider input(data, size);
  const int way = input.ConsumeIntegralInRange(0, 2);
  if (way == 0) {
    check_decrypt(input.ConsumeRemainingBytesAsString());
  } else if (way == 1) {
    check_decrypt(sealed(input.ConsumeRemainingBytes<std::uint8_t>()));
  } else {
    check_round_trip(input.ConsumeRemainingBytesAsString());
  }
  return 0;
}

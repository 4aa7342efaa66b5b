// The keys of one NIP-44 message. They wipe themselves.
#pragma once

#include <array>
#include <cstdint>

#include "gyre/base/bytes.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::nostr {

struct MessageKeys {
  Bytes32 chacha_key;
  // Block counter 0 and the nonce, as Cipher wants them.
  std::array<std::uint8_t, 16> chacha_iv{};
  Bytes32 hmac_key;

  MessageKeys() = default;
  ~MessageKeys() { wipe(this, sizeof *this); }
  MessageKeys(const MessageKeys&) = delete;
  MessageKeys& operator=(const MessageKeys&) = delete;
};

// HKDF-expand (RFC 5869) of the conversation key with the nonce to 76 bytes.
void expand_message_keys(const Bytes32& conversation_key, const Bytes32& nonce, MessageKeys& keys);

}  // namespace gyre::nostr

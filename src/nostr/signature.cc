#include "gyre/nostr/signature.h"

#include <secp256k1_schnorrsig.h>

namespace gyre::nostr {

bool verify_signature(const Bytes32& pubkey, const Bytes32& message, const Signature& signature) {
  secp256k1_xonly_pubkey key;
  const secp256k1_context* const context = secp256k1_context_static;
  return secp256k1_xonly_pubkey_parse(context, &key, pubkey.bytes.data()) == 1 &&
         secp256k1_schnorrsig_verify(context, signature.data(), message.bytes.data(),
                                     message.bytes.size(), &key) == 1;
}

}  // namespace gyre::nostr

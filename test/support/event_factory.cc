#include "support/event_factory.h"

#include <secp256k1_extrakeys.h>
#include <secp256k1_schnorrsig.h>

#include <array>
#include <unordered_map>

#include "gyre/base/assert.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/verify.h"

namespace gyre::test {
namespace {

struct Key {
  secp256k1_keypair pair;
  Bytes32 pubkey;
};

secp256k1_context* signing_context() {
  static secp256k1_context* const context = secp256k1_context_create(SECP256K1_CONTEXT_NONE);
  return context;
}

Key make_key(std::uint32_t key_index) {
  const Bytes32 secret = nostr::sha256(as_bytes("gyre test key " + std::to_string(key_index)));
  Key key;
  secp256k1_xonly_pubkey xonly;
  const secp256k1_context* const context = signing_context();
  GYRE_ASSERT(secp256k1_keypair_create(context, &key.pair, secret.bytes.data()) == 1);
  GYRE_ASSERT(secp256k1_keypair_xonly_pub(context, &xonly, nullptr, &key.pair) == 1);
  GYRE_ASSERT(secp256k1_xonly_pubkey_serialize(context, key.pubkey.bytes.data(), &xonly) == 1);
  return key;
}

// Making a key costs as much as a signature; a test with many events uses few keys.
const Key& key_of(std::uint32_t key_index) {
  thread_local std::unordered_map<std::uint32_t, Key> keys;
  const auto found = keys.find(key_index);
  if (found != keys.end()) return found->second;
  return keys.emplace(key_index, make_key(key_index)).first->second;
}

void append_quoted(std::string_view text, std::string& out) {
  out += '"';
  nostr::append_escaped(text, out);
  out += '"';
}

std::string tags_text(const EventDraft& draft) {
  std::string out = "[";
  for (const std::vector<std::string>& tag : draft.tags) {
    if (out.size() > 1) out += ',';
    out += '[';
    for (std::size_t i = 0; i < tag.size(); ++i) {
      if (i != 0) out += ',';
      append_quoted(tag[i], out);
    }
    out += ']';
  }
  return out + ']';
}

// The event up to and with the opening quote of the signature.
std::string event_without_signature(const EventDraft& draft, Bytes32& id) {
  const std::string pubkey_text = to_hex(key_of(draft.key_index).pubkey.bytes);
  const std::string created_at = std::to_string(draft.created_at);
  const std::string kind = std::to_string(draft.kind);
  const std::string tags = tags_text(draft);
  std::string content;
  append_quoted(draft.content, content);
  id = nostr::sha256(as_bytes("[0,\"" + pubkey_text + "\"," + created_at + "," + kind + "," + tags +
                              "," + content + "]"));
  return "{\"id\":\"" + to_hex(id.bytes) + "\",\"pubkey\":\"" + pubkey_text +
         "\",\"created_at\":" + created_at + ",\"kind\":" + kind + ",\"tags\":" + tags +
         ",\"content\":" + content + ",\"sig\":\"";
}

}  // namespace

Bytes32 pubkey(std::uint32_t key_index) { return key_of(key_index).pubkey; }

std::string pubkey_hex(std::uint32_t key_index) { return to_hex(pubkey(key_index).bytes); }

std::string sign_event(const EventDraft& draft) {
  Bytes32 id;
  std::string text = event_without_signature(draft, id);
  std::array<std::uint8_t, 64> signature;
  const int is_signed = secp256k1_schnorrsig_sign32(
      signing_context(), signature.data(), id.bytes.data(), &key_of(draft.key_index).pair, nullptr);
  GYRE_ASSERT(is_signed == 1);
  return text + to_hex(signature) + "\"}";
}

std::string unsigned_event(const EventDraft& draft) {
  Bytes32 id;
  return event_without_signature(draft, id) + std::string(128, '0') + "\"}";
}

std::vector<std::uint8_t> pack_event_text(std::string_view event_json) {
  thread_local nostr::MessageParser parser{nostr::MessageLimits{}};
  std::string padded(event_json);
  padded.resize(event_json.size() + nostr::MessageParser::kPadding, '\0');
  const nostr::ClientMessage& message =
      parser.parse_event(std::string_view(padded).substr(0, event_json.size()));
  GYRE_ASSERT(message.kind == nostr::MessageKind::kEvent);
  const ByteSpan bytes = message.event.bytes();
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> pack_event(const EventDraft& draft) {
  return pack_event_text(sign_event(draft));
}

std::vector<std::uint8_t> pack_unsigned_event(const EventDraft& draft) {
  return pack_event_text(unsigned_event(draft));
}

}  // namespace gyre::test

// Entity: what NIP-19 writes in bech32 for people to copy: keys, ids, and pointers with hints on
// where to look.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"

namespace gyre::nostr {

enum class EntityKind : std::uint8_t {
  kPublicKey,  // npub: key
  kSecretKey,  // nsec: key. Whoever reads one wipes it; see secret_key.h.
  kNote,       // note: key is an event id
  kProfile,    // nprofile: key, relays
  kEvent,      // nevent: key is an event id; relays, author, event_kind
  kAddress,    // naddr: key is the author's; identifier, event_kind, relays
};

// The word before the digit 1.
[[nodiscard]] std::string_view entity_prefix(EntityKind kind);

struct Entity {
  EntityKind kind = EntityKind::kPublicKey;
  Bytes32 key;
  // UTF-8, at most 255 bytes each. NIP-19 says ASCII; whoever shows them looks for controls.
  std::vector<std::string> relays;
  std::optional<Bytes32> author;
  std::optional<std::uint16_t> event_kind;
  std::string identifier;  // The d tag; at most 255 bytes.

  friend bool operator==(const Entity&, const Entity&) = default;
};

// Members that the kind does not have are left out. kTooLong if a text has more than 255 bytes or
// the whole more than 5000 characters; kNotUtf8; kMissingMember if an address has no kind. Then
// `out` is as it was.
DecodeError append_entity(const Entity& entity, std::string& out);

// Parts of unknown types are skipped, as NIP-19 demands. kBadPrefix: bech32, but none of these.
DecodeError parse_entity(std::string_view text, Entity& entity);

}  // namespace gyre::nostr

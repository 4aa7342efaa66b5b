#include "app/key_text.h"

#include "gyre/nostr/entity.h"
#include "gyre/nostr/kind_name.h"

namespace gyre::app {
namespace {

using nostr::Entity;
using nostr::EntityKind;

constexpr std::string_view kPublicForms = "64 lower-case hex digits, npub1... or nprofile1...";

std::string bech32_text(EntityKind kind, const Bytes32& key) {
  std::string out;
  const nostr::DecodeError error = append_entity(Entity{.kind = kind, .key = key}, out);
  // Keys and ids always fit.
  return error == nostr::DecodeError::kNone ? out : std::string();
}

// The beginning of what was typed, for messages.
std::string shown(std::string_view text) {
  return "'" + harmless(text.substr(0, 40)) + (text.size() > 40 ? "...'" : "'");
}

void add_line(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  out.append(name.size() < 12 ? 12 - name.size() : 1, ' ');
  out += value;
  out += '\n';
}

void add_public_key(std::string& out, const Bytes32& key) {
  add_line(out, "public", to_hex(key.bytes));
  add_line(out, "npub", bech32_text(EntityKind::kPublicKey, key));
}

void add_event_id(std::string& out, const Bytes32& id) {
  add_line(out, "id", to_hex(id.bytes));
  add_line(out, "note", bech32_text(EntityKind::kNote, id));
}

void add_parts(std::string& out, const Entity& entity) {
  if (entity.kind == EntityKind::kAddress) {
    add_line(out, "identifier", harmless(entity.identifier));
  }
  if (entity.author) add_line(out, "author", to_hex(entity.author->bytes));
  if (entity.event_kind) {
    const std::string_view name = nostr::kind_name(*entity.event_kind);
    std::string text = std::to_string(*entity.event_kind);
    if (!name.empty()) text += " (" + std::string(name) + ")";
    add_line(out, "kind", text);
  }
  for (const std::string& relay : entity.relays) add_line(out, "relay", harmless(relay));
}

}  // namespace

std::string harmless(std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<std::uint8_t>(text[i]);
    const std::uint8_t next =
        i + 1 < text.size() ? static_cast<std::uint8_t>(text[i + 1]) : std::uint8_t{0};
    const bool is_c1 = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    if (byte == '\\') {
      out += "\\\\";
    } else if (byte < 0x20 || byte == 0x7f || is_c1) {
      const std::uint8_t code = is_c1 ? next : byte;
      out += {'\\', 'u', '0', '0', kDigits[code >> 4], kDigits[code & 15]};
      if (is_c1) ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

absl::StatusOr<Bytes32> parse_public_key(std::string_view text) {
  Bytes32 key;
  if (text.size() == 64 && hex_decode(text, key.bytes.data())) return key;
  Entity entity;
  const nostr::DecodeError error = parse_entity(text, entity);
  if (error == nostr::DecodeError::kNone &&
      (entity.kind == EntityKind::kPublicKey || entity.kind == EntityKind::kProfile)) {
    return entity.key;
  }
  if (error == nostr::DecodeError::kNone && entity.kind == EntityKind::kSecretKey) {
    nostr::wipe(&entity.key, sizeof entity.key);
    return absl::InvalidArgumentError("a public key must be given here, not a secret one");
  }
  return absl::InvalidArgumentError(shown(text) + " is no public key; give " +
                                    std::string(kPublicForms));
}

std::string secret_key_lines(const nostr::SecretKey& key) {
  std::string hex = to_hex(key.bytes().bytes);
  std::string nsec = bech32_text(EntityKind::kSecretKey, key.bytes());
  std::string out;
  // Enough for all: a string that grows leaves copies behind.
  out.reserve(512);
  add_line(out, "secret", hex);
  add_line(out, "nsec", nsec);
  add_public_key(out, key.public_key());
  nostr::wipe(hex.data(), hex.size());
  nostr::wipe(nsec.data(), nsec.size());
  return out;
}

absl::StatusOr<std::string> entity_lines(std::string_view text) {
  std::string out;
  Bytes32 key;
  if (text.size() == 64 && hex_decode(text, key.bytes.data())) {
    add_public_key(out, key);
    add_line(out, "note", bech32_text(EntityKind::kNote, key));
    return out;
  }
  Entity entity;
  const nostr::DecodeError error = parse_entity(text, entity);
  if (error != nostr::DecodeError::kNone) {
    return absl::InvalidArgumentError(shown(text) +
                                      " is neither 64 lower-case hex digits nor text of NIP-19: " +
                                      std::string(nostr::describe(error)));
  }
  switch (entity.kind) {
    case EntityKind::kPublicKey:
    case EntityKind::kProfile:
    case EntityKind::kAddress: add_public_key(out, entity.key); break;
    case EntityKind::kNote:
    case EntityKind::kEvent: add_event_id(out, entity.key); break;
    case EntityKind::kSecretKey:
      nostr::wipe(&entity.key, sizeof entity.key);
      return absl::InvalidArgumentError(
          "that is a secret key; ask with --secret --secret-file FILE, and take it out of the "
          "shell's "
          "history");
  }
  add_parts(out, entity);
  return out;
}

}  // namespace gyre::app

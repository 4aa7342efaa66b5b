#include "gyre/nostr/entity.h"

#include <algorithm>
#include <array>

#include "gyre/nostr/bech32.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::nostr {
namespace {

enum Part : std::uint8_t { kSpecial = 0, kRelay = 1, kAuthor = 2, kEventKind = 3 };

constexpr std::array<EntityKind, 6> kKinds = {EntityKind::kPublicKey, EntityKind::kSecretKey,
                                              EntityKind::kNote,      EntityKind::kProfile,
                                              EntityKind::kEvent,     EntityKind::kAddress};

bool has_parts(EntityKind kind) { return kind >= EntityKind::kProfile; }

// A part is its type, its length in one byte, its bytes.
constexpr std::size_t kPartBytesMax = 255;

DecodeError append_part(Part part, ByteSpan value, std::vector<std::uint8_t>& out) {
  if (value.size() > kPartBytesMax) return DecodeError::kTooLong;
  out.push_back(part);
  out.push_back(static_cast<std::uint8_t>(value.size()));
  out.insert(out.end(), value.begin(), value.end());
  return DecodeError::kNone;
}

DecodeError append_event_kind(std::uint16_t kind, std::vector<std::uint8_t>& out) {
  const std::array<std::uint8_t, 4> bytes = {0, 0, static_cast<std::uint8_t>(kind >> 8),
                                             static_cast<std::uint8_t>(kind)};
  return append_part(kEventKind, bytes, out);
}

DecodeError append_parts(const Entity& entity, std::vector<std::uint8_t>& out) {
  const bool is_address = entity.kind == EntityKind::kAddress;
  if (is_address && !entity.event_kind) return DecodeError::kMissingMember;
  if (is_address && !is_valid_utf8(entity.identifier)) return DecodeError::kNotUtf8;
  DecodeError error = append_part(
      kSpecial, is_address ? as_bytes(entity.identifier) : ByteSpan(entity.key.bytes), out);
  for (const std::string& relay : entity.relays) {
    if (error == DecodeError::kNone && !is_valid_utf8(relay)) error = DecodeError::kNotUtf8;
    if (error == DecodeError::kNone) error = append_part(kRelay, as_bytes(relay), out);
  }
  if (error != DecodeError::kNone || entity.kind == EntityKind::kProfile) return error;
  if (is_address) {
    error = append_part(kAuthor, entity.key.bytes, out);
  } else if (entity.author) {
    error = append_part(kAuthor, entity.author->bytes, out);
  }
  if (error == DecodeError::kNone && entity.event_kind) {
    error = append_event_kind(*entity.event_kind, out);
  }
  return error;
}

DecodeError read_key(ByteSpan bytes, Bytes32& key) {
  if (bytes.size() != key.bytes.size()) {
    return bytes.size() < key.bytes.size() ? DecodeError::kTooShort : DecodeError::kTooLong;
  }
  std::copy(bytes.begin(), bytes.end(), key.bytes.begin());
  return DecodeError::kNone;
}

DecodeError read_text(ByteSpan bytes, std::string& text) {
  text.assign(as_text(bytes));
  return is_valid_utf8(text) ? DecodeError::kNone : DecodeError::kNotUtf8;
}

DecodeError read_event_kind(ByteSpan bytes, Entity& entity) {
  if (bytes.size() != 4 || bytes[0] != 0 || bytes[1] != 0) return DecodeError::kBadNumber;
  entity.event_kind = static_cast<std::uint16_t>(bytes[2] << 8 | bytes[3]);
  return DecodeError::kNone;
}

// One reader goes through the parts of one entity. Only relays may be repeated.
class PartReader {
 public:
  explicit PartReader(Entity& entity) : entity_(entity) {}

  DecodeError read(ByteSpan bytes) {
    while (!bytes.empty()) {
      if (bytes.size() < 2 || bytes.size() - 2 < bytes[1]) return DecodeError::kTooShort;
      const DecodeError error = read_part(bytes[0], bytes.subspan(2, bytes[1]));
      if (error != DecodeError::kNone) return error;
      bytes = bytes.subspan(2 + std::size_t{bytes[1]});
    }
    const bool is_address = entity_.kind == EntityKind::kAddress;
    const bool is_complete = has_special_ && (!is_address || (has_author_ && entity_.event_kind));
    return is_complete ? DecodeError::kNone : DecodeError::kMissingMember;
  }

 private:
  DecodeError read_part(std::uint8_t type, ByteSpan value) {
    const bool is_address = entity_.kind == EntityKind::kAddress;
    switch (type) {
      case kSpecial:
        if (has_special_) return DecodeError::kRepeatedMember;
        has_special_ = true;
        return is_address ? read_text(value, entity_.identifier) : read_key(value, entity_.key);
      case kRelay: return read_text(value, entity_.relays.emplace_back());
      case kAuthor:
        if (entity_.kind == EntityKind::kProfile) return DecodeError::kNone;
        if (has_author_) return DecodeError::kRepeatedMember;
        has_author_ = true;
        return read_key(value, is_address ? entity_.key : entity_.author.emplace());
      case kEventKind:
        if (entity_.kind == EntityKind::kProfile) return DecodeError::kNone;
        if (entity_.event_kind) return DecodeError::kRepeatedMember;
        return read_event_kind(value, entity_);
      default: return DecodeError::kNone;
    }
  }

  Entity& entity_;
  bool has_special_ = false;
  bool has_author_ = false;
};

}  // namespace

std::string_view entity_prefix(EntityKind kind) {
  switch (kind) {
    case EntityKind::kPublicKey: return "npub";
    case EntityKind::kSecretKey: return "nsec";
    case EntityKind::kNote: return "note";
    case EntityKind::kProfile: return "nprofile";
    case EntityKind::kEvent: return "nevent";
    case EntityKind::kAddress: return "naddr";
  }
  return "";
}

DecodeError append_entity(const Entity& entity, std::string& out) {
  const std::string_view prefix = entity_prefix(entity.kind);
  std::vector<std::uint8_t> parts;
  ByteSpan bytes = entity.key.bytes;
  if (has_parts(entity.kind)) {
    const DecodeError error = append_parts(entity, parts);
    if (error != DecodeError::kNone) return error;
    bytes = parts;
  }
  const std::size_t chars = bech32_chars(prefix.size(), bytes.size());
  if (chars > kBech32CharsMax) return DecodeError::kTooLong;
  const std::size_t before = out.size();
  out.resize(before + chars);
  write_bech32(prefix, bytes, out.data() + before);
  return DecodeError::kNone;
}

DecodeError parse_entity(std::string_view text, Entity& entity) {
  entity = Entity();
  Bech32 bech32;
  const DecodeError error = parse_bech32(text, bech32);
  if (error != DecodeError::kNone) {
    // Its checksum or padding may be wrong and the rest a secret.
    wipe(bech32.bytes.data(), bech32.bytes.size());
    return error;
  }
  const auto kind = std::find_if(kKinds.begin(), kKinds.end(), [&](EntityKind candidate) {
    return entity_prefix(candidate) == bech32.prefix;
  });
  if (kind == kKinds.end()) return DecodeError::kBadPrefix;
  entity.kind = *kind;
  if (has_parts(*kind)) return PartReader(entity).read(bech32.bytes);
  const DecodeError key_error = read_key(bech32.bytes, entity.key);
  // It may have been a secret.
  wipe(bech32.bytes.data(), bech32.bytes.size());
  return key_error;
}

}  // namespace gyre::nostr

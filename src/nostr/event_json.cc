#include "nostr/event_json.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "nostr/tag_reader.h"

namespace gyre::nostr {
namespace {

enum Member : std::uint32_t { kId, kPubkey, kCreatedAt, kKind, kTags, kContent, kSig, kUnknown };
constexpr std::uint32_t kAllMembers = (1u << kUnknown) - 1;
constexpr std::uint32_t kDraftMembers = 1u << kKind | 1u << kContent;

Member member_of(std::string_view name) {
  switch (name.size()) {
    case 2: return name == "id" ? kId : kUnknown;
    case 3: return name == "sig" ? kSig : kUnknown;
    case 4: return name == "kind" ? kKind : name == "tags" ? kTags : kUnknown;
    case 6: return name == "pubkey" ? kPubkey : kUnknown;
    case 7: return name == "content" ? kContent : kUnknown;
    case 10: return name == "created_at" ? kCreatedAt : kUnknown;
    default: return kUnknown;
  }
}

DecodeError read_kind(JsonCursor& cursor, std::uint16_t& kind) {
  std::uint64_t value = 0;
  const DecodeError error = read_unsigned(cursor, 0xffff, value);
  kind = static_cast<std::uint16_t>(value);
  return error;
}

DecodeError read_member(JsonCursor& cursor, Member member, Event& event) {
  switch (member) {
    case kId: return read_hex(cursor, event.id.bytes);
    case kPubkey: return read_hex(cursor, event.pubkey.bytes);
    case kSig: return read_hex(cursor, event.sig);
    case kCreatedAt: return read_unsigned(cursor, kCreatedAtMax, event.created_at);
    case kKind: return read_kind(cursor, event.kind);
    case kTags: return read_tags(cursor, event.tags);
    case kContent: return read_text(cursor, event.content);
    case kUnknown: break;
  }
  return DecodeError::kUnknownMember;
}

// A name that needed escapes, decoded.
class MemberName {
 public:
  DecodeError read(JsonCursor& cursor) {
    RawString string;
    if (!cursor.take_string(string)) return DecodeError::kNotJson;
    if (!string.has_escape) {
      name_ = string.text;
      return DecodeError::kNone;
    }
    const DecodeError error = decode_string(string, decoded_);
    name_ = decoded_;
    return error;
  }
  [[nodiscard]] std::string_view text() const { return name_; }

 private:
  std::string decoded_;
  std::string_view name_;
};

DecodeError read_members(JsonCursor& cursor, std::uint32_t level, std::uint32_t required,
                         Event& event) {
  event.tags.clear();
  if (!cursor.take('{')) return DecodeError::kNotJson;
  if (cursor.take('}')) return DecodeError::kMissingMember;
  std::uint32_t seen = 0;
  absl::flat_hash_set<std::string> unknown_names;
  MemberName name;
  do {
    DecodeError error = name.read(cursor);
    if (error != DecodeError::kNone) return error;
    if (!cursor.take(':')) return DecodeError::kNotJson;
    const Member member = member_of(name.text());
    if (member != kUnknown) {
      if ((seen & 1u << member) != 0) return DecodeError::kRepeatedMember;
      seen |= 1u << member;
      error = read_member(cursor, member, event);
    } else {
      if (!unknown_names.emplace(name.text()).second) return DecodeError::kRepeatedMember;
      error = cursor.skip_value(kJsonLevelsMax - level);
    }
    if (error != DecodeError::kNone) return error;
  } while (cursor.take(','));
  if (!cursor.take('}')) return DecodeError::kNotJson;
  return (seen & required) == required ? DecodeError::kNone : DecodeError::kMissingMember;
}

}  // namespace

DecodeError read_event(JsonCursor& cursor, std::uint32_t level, Event& event) {
  return read_members(cursor, level, kAllMembers, event);
}

DecodeError parse_draft(std::string_view json, Event& event) {
  return parse_whole(
      json, [&](JsonCursor& cursor) { return read_members(cursor, 1, kDraftMembers, event); });
}

DecodeError parse_event(std::string_view json, Event& event) {
  return parse_whole(json, [&](JsonCursor& cursor) { return read_event(cursor, 1, event); });
}

}  // namespace gyre::nostr

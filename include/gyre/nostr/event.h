// Event: a Nostr event (NIP-01) with its texts unescaped, for programs that make and read events.
//
// An event owns its texts and keeps their memory when it is read into again, so a loop that uses
// one Event allocates nothing once it has grown. (The relay itself keeps events as packed_event.h
// describes: escaped, as they go over the wire.)
//
// Texts are UTF-8. Writers expect that; readers make sure of it. No function here looks at whether
// id and signature are right but the two that say so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/signature.h"
#include "gyre/nostr/tag_list.h"

namespace gyre::nostr {

// Latest time of an event; what one limits (nips.md 01-E04).
inline constexpr std::uint64_t kCreatedAtMax = 0x7fff'ffff'ffff'ffff;

struct Event {
  Bytes32 id;
  Bytes32 pubkey;                // x-only (BIP-340).
  std::uint64_t created_at = 0;  // Seconds since 1970; at most kCreatedAtMax.
  std::uint16_t kind = 0;
  TagList tags;
  std::string content;
  Signature sig{};

  friend bool operator==(const Event&, const Event&) = default;
};

// One event object, in JSON that is strict (RFC 8259): members in any order, each known one exactly
// once; unknown ones are dropped, as they are not signed. White space around is fine.
DecodeError parse_event(std::string_view json, Event& event);

// The same for an event that is yet to be signed: id, pubkey, created_at, tags and sig may be
// missing. Missing tags are none; the others keep what `event` holds, so that whoever signs puts
// there what a draft need not say.
DecodeError parse_draft(std::string_view json, Event& event);

// Minified JSON: id, pubkey, created_at, kind, tags, content, sig, canonically escaped
// (json_text.h). Exactly json_bytes(event) bytes, written to a buffer of the caller or appended.
[[nodiscard]] std::size_t json_bytes(const Event& event);
char* write_json(const Event& event, char* out);  // The end of what was written.
void append_json(const Event& event, std::string& out);

// A size for a buffer without looking at any text: right if nothing needs an escape, else too
// small, by a few per cent for usual texts and by five sixths at worst.
[[nodiscard]] std::size_t estimate_json_bytes(const Event& event);

// The form that is hashed: [0,"<pubkey>",<created_at>,<kind>,<tags>,"<content>"].
[[nodiscard]] std::size_t canonical_bytes(const Event& event);
char* write_canonical(const Event& event, char* out);
void append_canonical(const Event& event, std::string& out);

// The SHA-256 of the canonical form, which is not held anywhere on the way. Does not use event.id.
[[nodiscard]] Bytes32 compute_id(const Event& event);

[[nodiscard]] bool has_right_id(const Event& event);
// BIP-340 over event.id. Right only together with has_right_id().
[[nodiscard]] bool has_valid_signature(const Event& event);

}  // namespace gyre::nostr

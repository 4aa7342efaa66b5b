// The fixed pieces of a packed event's JSON, in their order (gyre/nostr/packed_event.h). What
// stands between them is the event's.
#pragma once

#include <cstddef>
#include <string_view>

#include "gyre/nostr/packed_event.h"

namespace gyre::nostr {

inline constexpr std::string_view kIdName = "{\"id\":\"";
inline constexpr std::string_view kPubkeyName = "\",\"pubkey\":\"";
inline constexpr std::string_view kCreatedAtName = "\",\"created_at\":";
inline constexpr std::string_view kKindName = ",\"kind\":";
inline constexpr std::string_view kTagsName = ",\"tags\":";
inline constexpr std::string_view kContentName = ",\"content\":";
inline constexpr std::string_view kSigName = ",\"sig\":\"";
inline constexpr std::string_view kJsonEnd = "\"}";

inline constexpr std::size_t kKeyDigits = 64;  // Of id and pubkey.
inline constexpr std::size_t kSigDigits = 128;

static_assert(kIdOffset == kIdName.size());
static_assert(kPubkeyOffset == kIdOffset + kKeyDigits + kPubkeyName.size());

// Tags with such a name are indexed and can be asked for (NIP-01).
[[nodiscard]] constexpr bool is_tag_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace gyre::nostr

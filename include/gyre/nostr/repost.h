// Reposts (NIP-18) that carry the reposted event in their content.
#pragma once

#include "gyre/nostr/packed_event.h"

namespace gyre::nostr {

// NIP-70: true if the content of `repost` is the JSON of an event with a tag named "-". Content
// that is empty, no JSON, or no event is none.
[[nodiscard]] bool embeds_protected_event(PackedEventView repost);

}  // namespace gyre::nostr

// Reading an event from the middle of a JSON text.
#pragma once

#include <cstdint>

#include "gyre/nostr/event.h"
#include "nostr/json_cursor.h"

namespace gyre::nostr {

// Reads the object that begins here, which stands inside of `level` containers, itself counted.
DecodeError read_event(JsonCursor& cursor, std::uint32_t level, Event& event);

}  // namespace gyre::nostr

// Reading and writing a filter in the middle of a JSON text.
#pragma once

#include "gyre/nostr/event_filter.h"
#include "nostr/json_cursor.h"
#include "nostr/json_output.h"

namespace gyre::nostr {

// Reads the object that begins here.
DecodeError read_filter(JsonCursor& cursor, EventFilter& filter);

void put_filter(JsonOutput& out, const EventFilter& filter);

}  // namespace gyre::nostr

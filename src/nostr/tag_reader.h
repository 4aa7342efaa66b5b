// Reading tags from the middle of a JSON text.
#pragma once

#include "gyre/nostr/tag_list.h"
#include "nostr/json_cursor.h"

namespace gyre::nostr {

// Appends the strings of the array that begins here to `items`.
DecodeError read_strings(JsonCursor& cursor, StringList& items);

// Appends the tag that begins here.
DecodeError read_tag(JsonCursor& cursor, TagList& tags);

// Appends all tags of the array that begins here.
DecodeError read_tags(JsonCursor& cursor, TagList& tags);

}  // namespace gyre::nostr

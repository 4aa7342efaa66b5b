// Lists of ids or keys within a JSON text.
#pragma once

#include <span>
#include <vector>

#include "gyre/base/bytes.h"
#include "nostr/json_cursor.h"

namespace gyre::nostr {

// Replaces what `keys` holds by the list that begins here.
DecodeError read_key_list(JsonCursor& cursor, std::vector<Bytes32>& keys);

// `Output` is JsonOutput or has its functions.
template <typename Output>
void put_key_list(Output& out, std::span<const Bytes32> keys) {
  char before = '[';
  for (const Bytes32& key : keys) {
    out.put(before);
    out.put('"');
    out.put_hex(key.bytes);
    out.put('"');
    before = ',';
  }
  if (keys.empty()) out.put('[');
  out.put(']');
}

}  // namespace gyre::nostr

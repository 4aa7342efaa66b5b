// Events as bytes: the densest form that can be read without a schema.
//
//     id 32 | pubkey 32 | created_at v | kind v | tag count v
//     | for each tag: item count v | for each item: length v, bytes
//     | content length v, bytes | sig 64
//
// v is a number in base 128, lowest digit first, where the LAST byte has the high bit set (the
// reverse of LEB128). The layout is that of ORLY's binary encoder, so files can be exchanged. One
// event has one form: numbers are written, and taken, only as short as they can be.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/event.h"

namespace gyre::nostr {

// Exactly binary_bytes(event) bytes, written to a buffer of the caller or appended.
[[nodiscard]] std::size_t binary_bytes(const Event& event);
std::uint8_t* write_binary(const Event& event, std::uint8_t* out);  // The end of what was written.
void append_binary(const Event& event, std::vector<std::uint8_t>& out);

// Any bytes may be given. What is taken can be written as JSON: times and kinds are in range, texts
// are UTF-8, tags have one item at least.
DecodeError parse_binary(ByteSpan bytes, Event& event);

}  // namespace gyre::nostr

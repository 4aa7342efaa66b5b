// The small JSON values that Nostr messages are made of: strings, hex, booleans, and lists of them.
//
// Readers take the whole of a text, which may have white space around, and are strict (RFC 8259).
// Writers write minified JSON, strings in the canonical escaping (json_text.h), to a buffer of the
// caller that has room for what the function named `..._bytes` says; they return the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/string_list.h"

namespace gyre::nostr {

// "text"
[[nodiscard]] inline std::size_t quoted_bytes(std::string_view text) {
  return escaped_bytes(text) + 2;
}
char* write_quoted(std::string_view text, char* out);
DecodeError parse_quoted(std::string_view json, std::string& text);

// "name": the front of a member. Takes quoted_bytes(name) + 1.
char* write_key(std::string_view name, char* out);

// true, false; at most five bytes.
char* write_bool(bool value, char* out);
DecodeError parse_bool(std::string_view json, bool& value);

// "<hex>": exactly out.size() bytes in lower-case hex.
DecodeError parse_hex(std::string_view json, std::span<std::uint8_t> out);

// ["<hex>",...] of 32 bytes each, as ids and keys of a filter.
[[nodiscard]] constexpr std::size_t key_list_bytes(std::size_t count) {
  return count == 0 ? 2 : 1 + 67 * count;
}
char* write_key_list(std::span<const Bytes32> keys, char* out);
// Replaces what `keys` holds.
DecodeError parse_key_list(std::string_view json, std::vector<Bytes32>& keys);

// ["text",...]
[[nodiscard]] std::size_t string_list_bytes(const StringList& strings);
char* write_string_list(const StringList& strings, char* out);
// Replaces what `strings` holds.
DecodeError parse_string_list(std::string_view json, StringList& strings);

}  // namespace gyre::nostr

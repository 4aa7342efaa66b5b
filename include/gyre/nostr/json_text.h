// JSON string text in the one canonical escaping that packed events, compiled filters and
// subscription ids share (NIP-01 serialisation; nips.md 01-S03, 01-S04).
#pragma once

#include <string>
#include <string_view>

namespace gyre::nostr {

// Appends `text` (valid UTF-8) escaped, without quotes: \n \" \\ \r \t \b \f, \u00xx in lower case
// for the other controls below U+0020, everything else verbatim.
void append_escaped(std::string_view text, std::string& out);

// The same into a buffer of the caller: how many bytes it takes, exactly, and writing them, which
// returns their end.
[[nodiscard]] std::size_t escaped_bytes(std::string_view text);
char* write_escaped(std::string_view text, char* out);

// Undoes append_escaped. Requires: `escaped` came from append_escaped or from a packed event.
[[nodiscard]] std::string unescape(std::string_view escaped);

// The same into a buffer of the caller, which must have room for escaped.size() bytes; returns the
// end of what was written.
char* write_unescaped(std::string_view escaped, char* out);

// Number of Unicode code points. Requires: valid UTF-8.
[[nodiscard]] std::size_t code_point_count(std::string_view text);

[[nodiscard]] bool is_valid_utf8(std::string_view text);

}  // namespace gyre::nostr

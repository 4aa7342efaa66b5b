// base64 with padding (RFC 4648 section 4), strict: one text for each value, no white space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "gyre/base/bytes.h"

namespace gyre::nostr {

[[nodiscard]] constexpr std::size_t base64_chars(std::size_t bytes) { return (bytes + 2) / 3 * 4; }

// Writes that many characters and returns the end.
char* write_base64(ByteSpan bytes, char* out);

// Most bytes that a text of so many characters stands for.
[[nodiscard]] constexpr std::size_t base64_bytes_max(std::size_t chars) { return chars / 4 * 3; }

// Writes what `text` stands for to `out`, which has room for base64_bytes_max(text.size()), and
// returns how many bytes it is; nothing if the text is not base64, or not the shortest form.
[[nodiscard]] std::optional<std::size_t> parse_base64(std::string_view text, std::uint8_t* out);

}  // namespace gyre::nostr

// The character classes and lists of HTTP (RFC 9110 5.6).
#pragma once

#include <optional>
#include <string_view>

namespace gyre::net {

[[nodiscard]] bool is_token(std::string_view text);  // Not empty, token characters only.
[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b);  // ASCII.
[[nodiscard]] bool is_digits(std::string_view text);
[[nodiscard]] std::string_view trim_blanks(std::string_view text);  // Spaces and tabs at both ends.

// Cuts the next element off the front of `rest` at `separator`, trimmed; separators within quoted
// strings do not count. Nothing when `rest` is used up. Elements may be empty.
[[nodiscard]] std::optional<std::string_view> next_element(std::optional<std::string_view>& rest,
                                                           char separator);

}  // namespace gyre::net

#include "net/http_text.h"

#include <algorithm>

namespace gyre::net {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_token_character(char c) {
  const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return is_letter || is_digit(c) ||
         (c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos);
}

char to_lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

// Where `separator` first stands outside of a quoted string; npos if nowhere.
std::size_t find_unquoted(std::string_view text, char separator) {
  bool is_quoted = false;
  for (std::size_t index = 0; index < text.size(); ++index) {
    const char c = text[index];
    if (is_quoted && c == '\\') {
      ++index;
    } else if (c == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && c == separator) {
      return index;
    }
  }
  return std::string_view::npos;
}

}  // namespace

bool is_token(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_character);
}

bool equals_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return to_lower(x) == to_lower(y); });
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

std::string_view trim_blanks(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return text.substr(text.size());
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::optional<std::string_view> next_element(std::optional<std::string_view>& rest,
                                             char separator) {
  if (!rest) return std::nullopt;
  const std::size_t end = find_unquoted(*rest, separator);
  const std::string_view element = trim_blanks(rest->substr(0, end));
  if (end == std::string_view::npos) {
    rest.reset();
  } else {
    rest->remove_prefix(end + 1);
  }
  return element;
}

}  // namespace gyre::net

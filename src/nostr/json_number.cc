#include "nostr/json_number.h"

#include <limits>

namespace gyre::nostr {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

const char* skip_digits(const char* from, const char* end) {
  while (from < end && is_digit(*from)) ++from;
  return from;
}

}  // namespace

IntegerToken parse_integer(std::string_view token) {
  while (!token.empty() && is_blank(token.back())) token.remove_suffix(1);
  IntegerToken integer;
  if (!token.empty() && token.front() == '-') {
    integer.is_negative = true;
    token.remove_prefix(1);
  }
  if (token.empty()) return integer;
  if (token.front() == '0' && (token.size() > 1 || integer.is_negative)) return integer;
  integer.fits = true;
  for (const char c : token) {
    if (!is_digit(c)) return integer;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();
    if (integer.magnitude > (kMax - digit) / 10) integer.fits = false;
    integer.magnitude = integer.magnitude * 10 + digit;
  }
  integer.is_integer = true;
  integer.digits = token;
  return integer;
}

const char* skip_number(const char* from, const char* text_end) {
  if (from < text_end && *from == '-') ++from;
  if (from >= text_end || !is_digit(*from)) return nullptr;
  from = *from == '0' ? from + 1 : skip_digits(from, text_end);
  if (from < text_end && *from == '.') {
    const char* const fraction = from + 1;
    from = skip_digits(fraction, text_end);
    if (from == fraction) return nullptr;
  }
  if (from < text_end && (*from == 'e' || *from == 'E')) {
    ++from;
    if (from < text_end && (*from == '+' || *from == '-')) ++from;
    const char* const exponent = from;
    from = skip_digits(exponent, text_end);
    if (from == exponent) return nullptr;
  }
  return from;
}

}  // namespace gyre::nostr

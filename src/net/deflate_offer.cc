#include "net/deflate_offer.h"

#include <string_view>

#include "net/http_text.h"

namespace gyre::net {

namespace {

constexpr std::uint8_t kWindowBitsMin = 8;
constexpr std::uint8_t kWindowBitsMax = 15;

struct Parameter {
  std::string_view name;
  std::optional<std::string_view> value;
};

Parameter read_parameter(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {text, std::nullopt};
  std::string_view value = trim_blanks(text.substr(equals + 1));
  // What is quoted must be a token again (RFC 6455 9.1), so quotes say nothing.
  if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
    value = value.substr(1, value.size() - 2);
  }
  return {trim_blanks(text.substr(0, equals)), value};
}

// "8" to "15", without leading zeros (RFC 7692 7.1.2.1).
std::optional<std::uint8_t> read_window_bits(std::string_view text) {
  if (!is_digits(text) || text.size() > 2 || text.front() == '0') return std::nullopt;
  unsigned bits = 0;
  for (const char digit : text) bits = bits * 10 + static_cast<unsigned>(digit - '0');
  if (bits < kWindowBitsMin || bits > kWindowBitsMax) return std::nullopt;
  return static_cast<std::uint8_t>(bits);
}

// What an offer has said so far; each parameter may come once.
struct Offer {
  bool has_server_takeover = false;
  bool has_client_takeover = false;
  bool has_client_bits = false;
  std::optional<std::uint8_t> server_bits;

  // False if the parameter makes the offer one to decline.
  [[nodiscard]] bool take(const Parameter& parameter) {
    if (equals_ignoring_case(parameter.name, "server_no_context_takeover")) {
      return set(has_server_takeover) && !parameter.value;
    }
    if (equals_ignoring_case(parameter.name, "client_no_context_takeover")) {
      return set(has_client_takeover) && !parameter.value;
    }
    if (equals_ignoring_case(parameter.name, "client_max_window_bits")) {
      return set(has_client_bits) && (!parameter.value || read_window_bits(*parameter.value));
    }
    if (!equals_ignoring_case(parameter.name, "server_max_window_bits")) return false;
    if (server_bits || !parameter.value) return false;
    server_bits = read_window_bits(*parameter.value);
    return server_bits.has_value();
  }

 private:
  [[nodiscard]] static bool set(bool& flag) {
    if (flag) return false;
    return flag = true;
  }
};

std::optional<DeflateAgreement> read_offer(std::string_view text) {
  std::optional<std::string_view> rest = text;
  const auto name = next_element(rest, ';');
  if (!name || !equals_ignoring_case(*name, "permessage-deflate")) return std::nullopt;
  Offer offer;
  while (const auto element = next_element(rest, ';')) {
    if (!offer.take(read_parameter(*element))) return std::nullopt;
  }
  return DeflateAgreement{offer.server_bits.value_or(kWindowBitsMax)};
}

}  // namespace

std::string DeflateAgreement::to_header_value() const {
  std::string text = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
  if (server_window_bits < kWindowBitsMax) {
    text.append("; server_max_window_bits=").append(std::to_string(server_window_bits));
  }
  return text;
}

std::optional<DeflateAgreement> negotiate_deflate(const HttpRequest& request) {
  for (const HttpHeader& header : request.headers) {
    if (!equals_ignoring_case(header.name, "sec-websocket-extensions")) continue;
    std::optional<std::string_view> rest = header.value;
    while (const auto offer = next_element(rest, ',')) {
      if (const auto agreement = read_offer(*offer)) return agreement;
    }
  }
  return std::nullopt;
}

}  // namespace gyre::net

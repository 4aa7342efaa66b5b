#include "gyre/relay/relay_url.h"

#include <algorithm>

namespace gyre::relay {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool is_all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Splits "host:port"; an IPv6 host keeps its brackets.
void drop_default_port(std::string& host, std::string_view default_port) {
  const std::size_t colon = host.rfind(':');
  if (colon == std::string::npos) return;
  const std::string_view port = std::string_view(host).substr(colon + 1);
  if (port.empty() || (is_all_digits(port) && port == default_port)) host.resize(colon);
}

}  // namespace

std::optional<RelayUrl> parse_relay_url(std::string_view text) {
  const std::size_t separator = text.find("://");
  if (separator == std::string_view::npos) return std::nullopt;
  const std::string scheme = lower(text.substr(0, separator));
  if (scheme != "ws" && scheme != "wss") return std::nullopt;

  std::string_view rest = text.substr(separator + 3);
  rest = rest.substr(0, rest.find_first_of("?#"));
  const std::size_t slash = rest.find('/');
  RelayUrl url;
  url.host = lower(rest.substr(0, slash));
  if (slash != std::string_view::npos) url.path = rest.substr(slash);
  while (!url.path.empty() && url.path.back() == '/') url.path.pop_back();
  // Credentials in a URL would let "wss://own@evil" pass a careless reader.
  if (url.host.find('@') != std::string::npos) return std::nullopt;
  drop_default_port(url.host, scheme == "ws" ? "80" : "443");
  if (url.host.empty()) return std::nullopt;
  return url;
}

bool names_this_relay(std::string_view text, std::span<const RelayUrl> own) {
  const auto url = parse_relay_url(text);
  if (!url) return false;
  return std::any_of(own.begin(), own.end(), [&](const RelayUrl& mine) {
    return mine.host == url->host && (url->path.empty() || url->path == mine.path);
  });
}

}  // namespace gyre::relay

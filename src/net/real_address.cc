#include "gyre/net/http.h"

#include <algorithm>

#include "net/http_text.h"

namespace gyre::net {

namespace {

using runtime::Address;
using runtime::IpAddress;
using runtime::IpPrefix;

bool is_trusted(const IpAddress& address, const std::vector<IpPrefix>& trusted) {
  return std::any_of(trusted.begin(), trusted.end(),
                     [&](const IpPrefix& prefix) { return prefix.contains(address); });
}

// Some proxies add the port: "192.0.2.1:5000", "[2001:db8::1]:443".
std::optional<IpAddress> parse_hop(std::string_view text) {
  if (const auto ip = IpAddress::parse(text)) return ip;
  if (const auto address = Address::parse(text)) return address->ip;
  return std::nullopt;
}

// The node of one element of Forwarded (RFC 7239 4): for=192.0.2.1;proto=https.
std::string_view forwarded_node(std::string_view element) {
  std::optional<std::string_view> pairs = element;
  while (const auto pair = next_element(pairs, ';')) {
    const std::size_t equals = pair->find('=');
    if (equals == std::string_view::npos) continue;
    if (!equals_ignoring_case(trim_blanks(pair->substr(0, equals)), "for")) continue;
    std::string_view value = trim_blanks(pair->substr(equals + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    return value;
  }
  return "";
}

// All hops named by headers of that name, the nearest last.
std::vector<std::string_view> list_hops(const HttpRequest& request, std::string_view lower_name) {
  std::vector<std::string_view> hops;
  for (const HttpHeader& header : request.headers) {
    if (!equals_ignoring_case(header.name, lower_name)) continue;
    std::optional<std::string_view> rest = header.value;
    while (const auto element = next_element(rest, ',')) hops.push_back(*element);
  }
  return hops;
}

}  // namespace

IpAddress real_address(const IpAddress& peer, const HttpRequest& request,
                       const std::vector<IpPrefix>& trusted) {
  if (!is_trusted(peer, trusted)) return peer;
  std::vector<std::string_view> hops = list_hops(request, "x-forwarded-for");
  if (hops.empty()) {
    hops = list_hops(request, "forwarded");
    for (std::string_view& hop : hops) hop = forwarded_node(hop);
  }
  IpAddress nearest = peer;
  // Each hop was written by the one to its right, so a hop is believed as long as all to its right
  // are trusted.
  for (auto hop = hops.rbegin(); hop != hops.rend(); ++hop) {
    const auto address = parse_hop(*hop);
    if (!address) break;  // "unknown", obfuscated or forged.
    nearest = *address;
    if (!is_trusted(nearest, trusted)) break;
  }
  return nearest;
}

}  // namespace gyre::net

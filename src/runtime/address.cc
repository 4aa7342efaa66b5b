#include "gyre/runtime/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <charconv>
#include <cstring>

namespace gyre::runtime {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::uint8_t kMappedBits = 96;

bool is_ipv4(const IpAddress& address) {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.bytes.begin());
}

// Decimal digits only, without leading zeros: "0" but not "00", "+1" or "".
std::optional<std::uint32_t> parse_number(std::string_view text, std::uint32_t max) {
  if (text.empty() || (text.size() > 1 && text.front() == '0')) return std::nullopt;
  if (text.find_first_not_of("0123456789") != std::string_view::npos) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value > max) return std::nullopt;
  return value;
}

std::optional<IpAddress> parse_ipv4(const char* text) {
  IpAddress address;
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), address.bytes.begin());
  if (inet_pton(AF_INET, text, address.bytes.data() + kMappedPrefix.size()) != 1) {
    return std::nullopt;
  }
  return address;
}

std::optional<IpAddress> parse_ipv6(const char* text) {
  IpAddress address;
  if (inet_pton(AF_INET6, text, address.bytes.data()) != 1) return std::nullopt;
  return address;
}

}  // namespace

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  const bool has_brackets = text.size() >= 2 && text.front() == '[' && text.back() == ']';
  if (has_brackets) text = text.substr(1, text.size() - 2);
  // inet_pton wants a terminator, and would stop at one in the middle.
  char buffer[INET6_ADDRSTRLEN];
  if (text.empty() || text.size() >= sizeof buffer || text.find('\0') != std::string_view::npos) {
    return std::nullopt;
  }
  std::memcpy(buffer, text.data(), text.size());
  buffer[text.size()] = '\0';
  if (text.find(':') != std::string_view::npos) return parse_ipv6(buffer);
  if (has_brackets) return std::nullopt;
  return parse_ipv4(buffer);
}

std::string IpAddress::to_string() const {
  char buffer[INET6_ADDRSTRLEN];
  if (is_ipv4(*this)) {
    inet_ntop(AF_INET, bytes.data() + kMappedPrefix.size(), buffer, sizeof buffer);
  } else {
    inet_ntop(AF_INET6, bytes.data(), buffer, sizeof buffer);
  }
  return buffer;
}

std::optional<Address> Address::parse(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string_view host = text.substr(0, colon);
  // "::1:80" could be an address alone, so IPv6 needs its brackets here.
  const bool is_bare_ipv6 =
      host.find(':') != std::string_view::npos && (host.empty() || host.front() != '[');
  if (is_bare_ipv6) return std::nullopt;
  const std::optional<IpAddress> ip = IpAddress::parse(host);
  const std::optional<std::uint32_t> port = parse_number(text.substr(colon + 1), 65535);
  if (!ip || !port) return std::nullopt;
  return Address{*ip, static_cast<std::uint16_t>(*port)};
}

std::string Address::to_string() const {
  const std::string host = ip.to_string();
  const std::string number = std::to_string(port);
  return is_ipv4(ip) ? host + ":" + number : "[" + host + "]:" + number;
}

std::optional<IpPrefix> IpPrefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view host = text.substr(0, slash);
  const std::optional<IpAddress> ip = IpAddress::parse(host);
  if (!ip) return std::nullopt;
  if (slash == std::string_view::npos) return IpPrefix{*ip, 128};
  // The length counts from the start of the form that was written.
  const std::uint8_t skipped = host.find(':') == std::string_view::npos ? kMappedBits : 0;
  const std::optional<std::uint32_t> bits = parse_number(text.substr(slash + 1), 128u - skipped);
  if (!bits) return std::nullopt;
  return IpPrefix{*ip, static_cast<std::uint8_t>(skipped + *bits)};
}

bool IpPrefix::contains(const IpAddress& address) const {
  // "::/0" speaks of IPv6; that IPv4 is kept inside it is our own affair.
  if (bits < kMappedBits && is_ipv4(address)) return false;
  const std::size_t whole = bits / 8;
  if (!std::equal(ip.bytes.begin(), ip.bytes.begin() + whole, address.bytes.begin())) return false;
  const unsigned rest = bits % 8;
  if (rest == 0) return true;
  const unsigned mask = 0xff00u >> rest;
  return ((ip.bytes[whole] ^ address.bytes[whole]) & mask & 0xff) == 0;
}

}  // namespace gyre::runtime

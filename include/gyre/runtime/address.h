// Internet addresses, as listeners, peers and proxies name them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace gyre::runtime {

// IPv4 is kept as IPv4-mapped IPv6 (::ffff:a.b.c.d), so one comparison serves both.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};

  friend bool operator==(const IpAddress&, const IpAddress&) = default;
  template <typename H>
  friend H AbslHashValue(H h, const IpAddress& address) {
    return H::combine_contiguous(std::move(h), address.bytes.data(), address.bytes.size());
  }

  // "192.0.2.1", "2001:db8::1", "[2001:db8::1]"; nothing for anything else.
  [[nodiscard]] static std::optional<IpAddress> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
};

struct Address {
  IpAddress ip;
  std::uint16_t port = 0;

  // "127.0.0.1:7447", "[::1]:7447".
  [[nodiscard]] static std::optional<Address> parse(std::string_view text);
  [[nodiscard]] std::string to_string() const;
};

// "10.0.0.0/8", "::1", "192.0.2.7": an address and how many leading bits count. A prefix of IPv6
// contains no IPv4 address ("::/0" is not "0.0.0.0/0").
struct IpPrefix {
  IpAddress ip;
  std::uint8_t bits = 128;  // Of the 128-bit form: "10.0.0.0/8" has 104.

  [[nodiscard]] static std::optional<IpPrefix> parse(std::string_view text);
  [[nodiscard]] bool contains(const IpAddress& address) const;
};

}  // namespace gyre::runtime

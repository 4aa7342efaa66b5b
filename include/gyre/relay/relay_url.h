// The relay's own URLs, and whether a URL in a tag names this relay (NIP-42, NIP-62).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace gyre::relay {

// ws and wss are one class; the host is lower-case; a default port is dropped; the path has no
// trailing slash, and no query counts.
struct RelayUrl {
  std::string host;  // With ":port" unless it is the scheme's default.
  std::string path;  // "" or "/sub".
  friend bool operator==(const RelayUrl&, const RelayUrl&) = default;
};

// Nothing unless the scheme is ws or wss and there is a host.
[[nodiscard]] std::optional<RelayUrl> parse_relay_url(std::string_view text);

// True if `text` names one of `own`: same host and port, and the same path or none at all. Own URLs
// are configured, never taken from a request (nips.md 42-04).
[[nodiscard]] bool names_this_relay(std::string_view text, std::span<const RelayUrl> own);

}  // namespace gyre::relay

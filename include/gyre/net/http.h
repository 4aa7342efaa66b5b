// HTTP/1.1, as much as a relay needs: one request head, the WebSocket upgrade, small answers.
//
// Pure functions on text. Every answer but 101 ends the connection (Connection: close). What the
// request means beyond HTTP (NIP-11, pages) is the relay's to say.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gyre/runtime/address.h"

namespace gyre::net {

struct HttpHeader {
  std::string_view name;   // As sent; compare without case.
  std::string_view value;  // Trimmed.
};

// Views into the text given to parse_request.
struct HttpRequest {
  std::string_view method;
  std::string_view path;   // Without the query; "/" if empty; "*" of OPTIONS * as it is.
  std::string_view query;  // Behind '?', or empty.
  std::vector<HttpHeader> headers;
  std::size_t head_bytes = 0;    // With the blank line; a body begins here.
  std::uint64_t body_bytes = 0;  // As announced by Content-Length.
  std::uint8_t minor_version = 1;
  runtime::IpAddress address;  // The client's real one; filled in by the connection.

  // The value of the first header of that name (lower case), or nothing.
  [[nodiscard]] std::optional<std::string_view> find(std::string_view lower_name) const;
  // True if any header of that name holds `token` in its comma list, without regard to case.
  [[nodiscard]] bool has_token(std::string_view lower_name, std::string_view lower_token) const;
  // True if an Accept header lists `media_type` (parameters ignored) with a q other than 0.
  [[nodiscard]] bool accepts(std::string_view media_type) const;
};

struct HttpResponse {
  std::uint16_t status = 200;
  std::string content_type;  // Empty: no such header.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
};

enum class HttpOutcome : std::uint8_t { kNeedMore, kRequest, kBad };

// kBad: not HTTP/1.x, or a head that is malformed (obs-fold, bad names, control characters, bare
// line feeds, repeated Host, a body where none can be); answer with `status` (400, 405, 414, 431,
// 501, 505). Version 1.0 is served for the sake of health checks, but never upgraded (RFC 9110
// 7.8).
struct HttpParse {
  HttpOutcome outcome = HttpOutcome::kNeedMore;
  std::uint16_t status = 0;
  HttpRequest request;
};
[[nodiscard]] HttpParse parse_request(std::string_view text, std::size_t head_bytes_max);

// What an upgrade request deserves (nips.md T-01, T-02): 101 with the accept value, or a refusal.
// `is_upgrade` is false for plain requests.
struct UpgradeCheck {
  bool is_upgrade = false;
  std::uint16_t status = 0;  // 101, 400, 404, 426
  std::string accept;        // Sec-WebSocket-Accept
  std::string_view reason;   // What a refusal is for, in one sentence.
};
[[nodiscard]] UpgradeCheck check_upgrade(const HttpRequest& request, std::string_view base_path);

// `extensions`: the value of Sec-WebSocket-Extensions; empty: no such header.
[[nodiscard]] std::string upgrade_response(std::string_view accept, std::string_view extensions);
// A short text/plain answer, with the headers that its status demands.
[[nodiscard]] HttpResponse plain_response(std::uint16_t status, std::string_view text);
// `head_only` for HEAD: Content-Length of the body, but no body.
[[nodiscard]] std::string format_response(const HttpResponse& response, bool head_only);

// The client's address as trusted proxies tell it: from the right end of X-Forwarded-For (or
// Forwarded, if there is no X-Forwarded-For), skipping trusted hops. `peer` itself if it is not
// trusted or the headers are no use. A proxy that writes only Forwarded must remove what a client
// sent as X-Forwarded-For.
[[nodiscard]] runtime::IpAddress real_address(const runtime::IpAddress& peer,
                                              const HttpRequest& request,
                                              const std::vector<runtime::IpPrefix>& trusted);

// PROXY protocol, version 1 or 2, in front of the request. Only looked for on connections from
// trusted proxies. kRequest: `consumed` bytes are it, `source` what it says (nothing for LOCAL).
struct ProxyParse {
  HttpOutcome outcome = HttpOutcome::kNeedMore;
  bool is_present = false;  // False with kRequest: the text does not begin with a PROXY header.
  std::size_t consumed = 0;
  std::optional<runtime::IpAddress> source;
};
[[nodiscard]] ProxyParse parse_proxy_header(std::string_view text);

}  // namespace gyre::net

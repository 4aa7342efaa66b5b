// HTTP: no head brings the parser down, and one that is accepted says the same when it is written
// out again from its parts.
#include <cstdint>
#include <string>
#include <string_view>

#include "gyre/base/assert.h"
#include "gyre/net/http.h"

namespace {

using gyre::net::HttpOutcome;
using gyre::net::HttpParse;
using gyre::net::HttpRequest;

constexpr std::size_t kHeadMax = 4096;

std::string write_out(const HttpRequest& request) {
  std::string text(request.method);
  text.append(" ").append(request.path);
  if (!request.query.empty()) text.append("?").append(request.query);
  text.append(" HTTP/1.").append(std::to_string(request.minor_version)).append("\r\n");
  for (const auto& header : request.headers) {
    text.append(header.name).append(": ").append(header.value).append("\r\n");
  }
  return text.append("\r\n");
}

void check_equal(const HttpRequest& a, const HttpRequest& b) {
  GYRE_ASSERT(a.method == b.method);
  GYRE_ASSERT(a.path == b.path);
  GYRE_ASSERT(a.query == b.query);
  GYRE_ASSERT_CMP(a.body_bytes, ==, b.body_bytes);
  GYRE_ASSERT_CMP(a.headers.size(), ==, b.headers.size());
  for (std::size_t index = 0; index < a.headers.size(); ++index) {
    GYRE_ASSERT(a.headers[index].name == b.headers[index].name);
    GYRE_ASSERT(a.headers[index].value == b.headers[index].value);
  }
}

void check_request(std::string_view text) {
  const HttpParse parse = gyre::net::parse_request(text, kHeadMax);
  if (parse.outcome == HttpOutcome::kBad) {
    GYRE_ASSERT_CMP(parse.status, >=, 400);
    GYRE_ASSERT_CMP(parse.status, <, 600);
  }
  if (parse.outcome == HttpOutcome::kNeedMore) GYRE_ASSERT_CMP(text.size(), <, kHeadMax);
  if (parse.outcome != HttpOutcome::kRequest) return;
  const HttpRequest& request = parse.request;
  GYRE_ASSERT_CMP(request.head_bytes, <=, text.size());
  GYRE_ASSERT_CMP(request.head_bytes, <=, kHeadMax);
  GYRE_ASSERT(!request.path.empty());
  const std::string written = write_out(request);
  // Twice as much room: a blank behind each colon may have been added.
  const HttpParse again = gyre::net::parse_request(written, 2 * kHeadMax);
  GYRE_ASSERT(again.outcome == HttpOutcome::kRequest);
  check_equal(request, again.request);
  // Fewer bytes are never a different request.
  const auto less = gyre::net::parse_request(text.substr(0, request.head_bytes - 1), kHeadMax);
  GYRE_ASSERT(less.outcome == HttpOutcome::kNeedMore);
  (void)request.accepts("application/nostr+json");
  const auto upgrade = gyre::net::check_upgrade(request, "/");
  GYRE_ASSERT((upgrade.status == 101) == !upgrade.accept.empty());
  GYRE_ASSERT(upgrade.is_upgrade == (upgrade.status != 0));
  const auto trusted = *gyre::runtime::IpPrefix::parse("127.0.0.0/8");
  (void)gyre::net::real_address(trusted.ip, request, {trusted});
}

void check_proxy_header(std::string_view text) {
  const auto parse = gyre::net::parse_proxy_header(text);
  GYRE_ASSERT_CMP(parse.consumed, <=, text.size());
  if (parse.outcome != HttpOutcome::kRequest) return;
  GYRE_ASSERT(parse.is_present == (parse.consumed > 0));
  const auto again = gyre::net::parse_proxy_header(text.substr(0, parse.consumed));
  if (parse.is_present) GYRE_ASSERT(again.source == parse.source);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_request(text);
  check_proxy_header(text);
  return 0;
}

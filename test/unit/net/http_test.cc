#include "gyre/net/http.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::net {
namespace {

using runtime::IpAddress;
using runtime::IpPrefix;

constexpr std::size_t kHeadMax = 8192;

HttpParse parse(std::string_view text) { return parse_request(text, kHeadMax); }

std::uint16_t status_of(std::string_view text) {
  const HttpParse result = parse(text);
  return result.outcome == HttpOutcome::kBad ? result.status : 0;
}

// The parse of a good request; its views need `text` to live.
HttpRequest request_of(std::string_view text) {
  const HttpParse result = parse(text);
  EXPECT_EQ(result.outcome, HttpOutcome::kRequest) << text << " -> " << result.status;
  return result.request;
}

std::string get_with(std::string_view headers) {
  return "GET / HTTP/1.1\r\nHost: relay.test\r\n" + std::string(headers) + "\r\n";
}

TEST(HttpParse, ReadsLineHeadersAndLength) {
  const std::string text =
      "GET /a/b?x=1&y=?2 HTTP/1.1\r\nHost: relay.test\r\nX-Empty:\r\nX-Blank: \t v w "
      "\t\r\n\r\nrest";
  const HttpRequest request = request_of(text);
  EXPECT_EQ(request.method, "GET");
  EXPECT_EQ(request.path, "/a/b");
  EXPECT_EQ(request.query, "x=1&y=?2");
  EXPECT_EQ(request.find("x-empty"), "");
  EXPECT_EQ(request.find("x-blank"), "v w");
  EXPECT_EQ(request.find("x-none"), std::nullopt);
  EXPECT_EQ(request.head_bytes, text.size() - 4);
  EXPECT_EQ(request.minor_version, 1);
}

TEST(HttpParse, KnowsEveryFormOfTarget) {
  const auto path_and_query = [](std::string_view target) {
    const std::string text =
        "OPTIONS " + std::string(target) + " HTTP/1.1\r\nHost: relay.test\r\n\r\n";
    const HttpRequest request = request_of(text);
    return std::string(request.path) + " " + std::string(request.query);
  };
  EXPECT_EQ(path_and_query("/"), "/ ");
  EXPECT_EQ(path_and_query("/?"), "/ ");
  EXPECT_EQ(path_and_query("?a=b"), "/ a=b");
  EXPECT_EQ(path_and_query("*"), "* ");
  EXPECT_EQ(path_and_query("http://relay.test"), "/ ");
  EXPECT_EQ(path_and_query("WSS://relay.test:443/sub?q"), "/sub q");
  EXPECT_EQ(path_and_query("https://relay.test?q"), "/ q");
}

TEST(HttpParse, WaitsForTheWholeHead) {
  const std::string text = get_with("Accept: a\r\n");
  for (std::size_t size = 0; size < text.size(); ++size) {
    EXPECT_EQ(parse(text.substr(0, size)).outcome, HttpOutcome::kNeedMore) << size;
  }
  EXPECT_EQ(parse(text).outcome, HttpOutcome::kRequest);
}

TEST(HttpParse, RefusesMalformedHeads) {
  const std::string_view bad[] = {
      "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / \r\nHost: a\r\n\r\n",
      "GET /\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1 \r\nHost: a\r\n\r\n",
      "GET / http/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/11\r\nHost: a\r\n\r\n",
      "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /#f HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\x80 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET /\x01 HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET * HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET relay.test HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET ftp://relay.test/ HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n",
      "G@T / HTTP/1.1\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\n: 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nNoColon\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n folded\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\x01z\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nX: a\rz\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\nX: 1\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
      "\x16\x03\x01\x02",
      "\r\n",
  };
  for (const std::string_view text : bad) EXPECT_EQ(status_of(text), 400) << text;
  EXPECT_EQ(status_of(std::string_view("GET / HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n", 36)), 400);
}

TEST(HttpParse, NamesWhatIsNotSupported) {
  EXPECT_EQ(status_of("GET / HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
  EXPECT_EQ(status_of("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), 505);
  EXPECT_EQ(status_of("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"), 501);
  EXPECT_EQ(status_of("CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n"), 405);
}

TEST(HttpParse, BoundsTheHead) {
  const std::string line(kHeadMax, 'a');
  EXPECT_EQ(status_of("GET /" + line), 414);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + line), 431);
  EXPECT_EQ(status_of("GET / HTTP/1.1\r\nHost: a\r\nX: " + line + "\r\n\r\n"), 431);
  std::string many;
  for (int index = 0; index < 120; ++index) many += "X: 1\r\n";
  EXPECT_EQ(status_of(get_with(many)), 431);
  const std::string fitting = get_with("");
  EXPECT_EQ(parse_request(fitting, fitting.size()).outcome, HttpOutcome::kRequest);
  EXPECT_EQ(parse_request(fitting, fitting.size() - 1).status, 431);
}

TEST(HttpParse, DeliversOtherMethodsAndBodies) {
  const std::string text =
      "POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/nostr+json+rpc\r\n"
      "Content-Length: 12\r\n\r\n{\"a\":\"body\"}";
  const HttpRequest request = request_of(text);
  EXPECT_EQ(request.method, "POST");
  EXPECT_EQ(request.body_bytes, 12u);
  EXPECT_EQ(text.substr(request.head_bytes), "{\"a\":\"body\"}");
}

TEST(HttpParse, ServesTheOldVersionWithoutHost) {
  EXPECT_EQ(request_of("OPTIONS / HTTP/1.0\r\n\r\n").minor_version, 0);
}

TEST(HttpRequest, AcceptsMediaTypesByWeight) {
  const auto accepts = [](std::string_view value) {
    const std::string text = get_with("Accept: " + std::string(value) + "\r\n");
    return request_of(text).accepts("application/nostr+json");
  };
  EXPECT_TRUE(accepts("application/nostr+json"));
  EXPECT_TRUE(accepts("application/json, Application/Nostr+JSON;q=0.9, */*"));
  EXPECT_TRUE(accepts("application/nostr+json;q=0.001"));
  EXPECT_TRUE(accepts("application/nostr+json ; charset=\"a,b\" ; q=1"));
  EXPECT_FALSE(accepts("application/nostr+json;q=0"));
  EXPECT_FALSE(accepts("application/nostr+json; Q=0.000"));
  EXPECT_FALSE(accepts("text/html;x=\"a, application/nostr+json\""));
  EXPECT_FALSE(accepts("*/*"));
  EXPECT_FALSE(accepts("application/nostr+json+rpc"));
  EXPECT_FALSE(accepts(""));
}

TEST(HttpRequest, FindsTokensInEveryHeaderOfTheName) {
  const std::string text = get_with("Connection: keep-alive, UpGrade\r\nconnection: x,,\r\n");
  const HttpRequest request = request_of(text);
  EXPECT_TRUE(request.has_token("connection", "upgrade"));
  EXPECT_TRUE(request.has_token("connection", "x"));
  EXPECT_FALSE(request.has_token("connection", "keep"));
  EXPECT_FALSE(request.has_token("upgrade", "x"));
}

constexpr std::string_view kUpgradeHeaders =
    "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

UpgradeCheck check(std::string_view start, std::string_view headers,
                   std::string_view base_path = "/") {
  const std::string text =
      std::string(start) + "\r\nHost: relay.test\r\n" + std::string(headers) + "\r\n";
  return check_upgrade(request_of(text), base_path);
}

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string result(text);
  const std::size_t place = result.find(from);
  EXPECT_NE(place, std::string::npos);
  return result.replace(place, from.size(), to);
}

TEST(HttpUpgrade, AcceptsTheExampleOfTheRfc) {
  const UpgradeCheck result = check("GET / HTTP/1.1", kUpgradeHeaders);
  EXPECT_TRUE(result.is_upgrade);
  EXPECT_EQ(result.status, 101);
  EXPECT_EQ(result.accept, "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=");
  EXPECT_EQ(upgrade_response(result.accept, ""),
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n");
}

TEST(HttpUpgrade, IgnoresSubprotocolsExtensionsAndQuery) {
  const std::string headers = std::string(kUpgradeHeaders) +
                              "Sec-WebSocket-Protocol: nostr\r\n"
                              "Sec-WebSocket-Extensions: permessage-deflate\r\n"
                              "Accept: application/nostr+json\r\n";
  EXPECT_EQ(check("GET /?a=b HTTP/1.1", headers).status, 101);
  EXPECT_EQ(check("GET http://relay.test HTTP/1.1", headers).status, 101);
}

TEST(HttpUpgrade, KnowsOnePathOnly) {
  EXPECT_EQ(check("GET /anything HTTP/1.1", kUpgradeHeaders).status, 404);
  EXPECT_EQ(check("GET /relay HTTP/1.1", kUpgradeHeaders, "/relay").status, 101);
  EXPECT_EQ(check("GET / HTTP/1.1", kUpgradeHeaders, "/relay").status, 404);
}

TEST(HttpUpgrade, RefusesWhatIsIncomplete) {
  const auto status = [](std::string_view from, std::string_view to) {
    return check("GET / HTTP/1.1", replaced(kUpgradeHeaders, from, to)).status;
  };
  EXPECT_EQ(status("Version: 13", "Version: 8"), 426);
  EXPECT_EQ(status("Sec-WebSocket-Version: 13\r\n", ""), 400);
  EXPECT_EQ(status("Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n", ""), 400);
  EXPECT_EQ(status("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25jZQ"), 400);
  EXPECT_EQ(status("dGhlIHNhbXBsZSBub25jZQ==", "dGhlIHNhbXBsZSBub25j*Q=="), 400);
  EXPECT_EQ(status("keep-alive, Upgrade", "keep-alive"), 400);
  EXPECT_EQ(check("POST / HTTP/1.1", kUpgradeHeaders).status, 400);
  EXPECT_EQ(
      check("GET / HTTP/1.1", std::string(kUpgradeHeaders) + std::string(kUpgradeHeaders)).status,
      400);
}

TEST(HttpUpgrade, LeavesPlainRequestsAlone) {
  EXPECT_FALSE(check("GET / HTTP/1.1", "Accept: text/html\r\n").is_upgrade);
  EXPECT_FALSE(check("GET / HTTP/1.1", "Upgrade: h2c\r\nConnection: Upgrade\r\n").is_upgrade);
  EXPECT_FALSE(check("GET / HTTP/1.0", kUpgradeHeaders).is_upgrade);
}

TEST(HttpResponse, HasLengthAndEndsTheConnection) {
  HttpResponse response;
  response.content_type = "application/nostr+json";
  response.headers.emplace_back("Access-Control-Allow-Origin", "*");
  response.body = "{}";
  const std::string head =
      "HTTP/1.1 200 OK\r\nAccess-Control-Allow-Origin: *\r\nConnection: close\r\n"
      "Content-Type: application/nostr+json\r\nContent-Length: 2\r\n\r\n";
  EXPECT_EQ(format_response(response, false), head + "{}");
  EXPECT_EQ(format_response(response, true), head);
}

TEST(HttpResponse, OfNoContentHasNoLength) {
  HttpResponse response;
  response.status = 204;
  EXPECT_EQ(format_response(response, false),
            "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
}

TEST(HttpResponse, SaysWhatItsStatusDemands) {
  const std::string upgrade = format_response(plain_response(426, "Only version 13."), false);
  EXPECT_NE(upgrade.find("\r\nUpgrade: websocket\r\n"), std::string::npos);
  EXPECT_NE(upgrade.find("\r\nSec-WebSocket-Version: 13\r\n"), std::string::npos);
  EXPECT_NE(upgrade.find("\r\nConnection: upgrade, close\r\n"), std::string::npos);
  EXPECT_TRUE(upgrade.ends_with("\r\n\r\nOnly version 13.\n"));
  EXPECT_NE(format_response(plain_response(405, {}), false).find("\r\nAllow: "), std::string::npos);
}

class RealAddress : public testing::Test {
 protected:
  static IpAddress ip(std::string_view text) { return *IpAddress::parse(text); }
  std::string real(std::string_view peer, std::string_view headers) const {
    const std::string text = get_with(headers);
    return real_address(ip(peer), request_of(text), trusted_).to_string();
  }
  std::vector<IpPrefix> trusted_ = {*IpPrefix::parse("10.0.0.0/8"), *IpPrefix::parse("::1")};
};

TEST_F(RealAddress, IsThePeersUnlessItIsTrusted) {
  EXPECT_EQ(real("203.0.113.9", "X-Forwarded-For: 1.2.3.4\r\n"), "203.0.113.9");
  EXPECT_EQ(real("203.0.113.9", "Forwarded: for=1.2.3.4\r\n"), "203.0.113.9");
  EXPECT_EQ(real("10.1.1.1", ""), "10.1.1.1");
}

TEST_F(RealAddress, IsTheFirstUntrustedHopFromTheRight) {
  EXPECT_EQ(real("10.1.1.1", "X-Forwarded-For: 6.6.6.6, 198.51.100.7, 10.2.2.2\r\n"),
            "198.51.100.7");
  EXPECT_EQ(real("10.1.1.1", "X-Forwarded-For: 6.6.6.6\r\nX-Forwarded-For: 198.51.100.7\r\n"),
            "198.51.100.7");
  EXPECT_EQ(real("::1", "X-Forwarded-For: 2001:db8::5\r\n"), "2001:db8::5");
  EXPECT_EQ(real("::1", "X-Forwarded-For: [2001:db8::5]:4711\r\n"), "2001:db8::5");
  EXPECT_EQ(real("10.1.1.1", "X-Forwarded-For: 198.51.100.7:9000\r\n"), "198.51.100.7");
  EXPECT_EQ(real("10.1.1.1", "X-Forwarded-For: 10.7.7.7, 10.2.2.2\r\n"), "10.7.7.7");
}

TEST_F(RealAddress, StopsAtWhatIsNoAddress) {
  EXPECT_EQ(real("10.1.1.1", "X-Forwarded-For: unknown\r\n"), "10.1.1.1");
  EXPECT_EQ(real("10.1.1.1", "X-Forwarded-For: 6.6.6.6, junk, 10.2.2.2\r\n"), "10.2.2.2");
  EXPECT_EQ(real("10.1.1.1", "X-Forwarded-For:\r\n"), "10.1.1.1");
}

TEST_F(RealAddress, ReadsForwarded) {
  EXPECT_EQ(
      real("10.1.1.1", "Forwarded: for=6.6.6.6, for=198.51.100.7;proto=https;by=10.1.1.1\r\n"),
      "198.51.100.7");
  EXPECT_EQ(real("10.1.1.1", "Forwarded: proto=http; For=\"[2001:db8::5]:4711\"\r\n"),
            "2001:db8::5");
  EXPECT_EQ(real("10.1.1.1", "Forwarded: for=_hidden\r\n"), "10.1.1.1");
  EXPECT_EQ(real("10.1.1.1", "Forwarded: proto=http\r\n"), "10.1.1.1");
}

std::string source_of(const ProxyParse& parse) {
  return parse.source ? parse.source->to_string() : "nothing";
}

std::string v2(int command, int family, std::string_view body) {
  std::string header("\r\n\r\n\0\r\nQUIT\n", 12);
  header.push_back(static_cast<char>(0x20 | command));
  header.push_back(static_cast<char>(family << 4 | 1));
  header.push_back(static_cast<char>(body.size() >> 8));
  header.push_back(static_cast<char>(body.size() & 0xff));
  return header.append(body);
}

TEST(ProxyHeader, OfVersionOneIsALine) {
  const std::string line = "PROXY TCP4 198.51.100.7 203.0.113.1 56324 443\r\n";
  const ProxyParse parse = parse_proxy_header(line + "GET /");
  EXPECT_EQ(parse.outcome, HttpOutcome::kRequest);
  EXPECT_TRUE(parse.is_present);
  EXPECT_EQ(parse.consumed, line.size());
  EXPECT_EQ(source_of(parse), "198.51.100.7");
  EXPECT_EQ(source_of(parse_proxy_header("PROXY TCP6 2001:db8::5 2001:db8::1 1 2\r\n")),
            "2001:db8::5");
  const ProxyParse unknown = parse_proxy_header("PROXY UNKNOWN ffff::1 x 1 2\r\n");
  EXPECT_TRUE(unknown.is_present);
  EXPECT_EQ(source_of(unknown), "nothing");
}

TEST(ProxyHeader, OfVersionTwoIsBinary) {
  const std::string body(
      "\xc6\x33\x64\x07\xcb\x00\x71\x01\x12\x34\x01\xbb"
      "tlv",
      15);
  const std::string header = v2(1, 1, body);
  const ProxyParse parse = parse_proxy_header(header + "GET /");
  EXPECT_EQ(parse.outcome, HttpOutcome::kRequest);
  EXPECT_EQ(parse.consumed, header.size());
  EXPECT_EQ(source_of(parse), "198.51.100.7");
  std::string body6 = "\x20\x01\x0d\xb8" + std::string(11, '\0') + "\x05" + std::string(20, '\0');
  EXPECT_EQ(source_of(parse_proxy_header(v2(1, 2, body6))), "2001:db8::5");
  const ProxyParse local = parse_proxy_header(v2(0, 1, body));
  EXPECT_TRUE(local.is_present);
  EXPECT_EQ(source_of(local), "nothing");
}

TEST(ProxyHeader, WaitsWhileItMayBecomeOne) {
  const std::string line = "PROXY TCP4 198.51.100.7 203.0.113.1 56324 443\r\n";
  const std::string binary = v2(1, 1, std::string(12, 'a'));
  for (const std::string& text : {line, binary}) {
    for (std::size_t size = 0; size < text.size(); ++size) {
      EXPECT_EQ(parse_proxy_header(text.substr(0, size)).outcome, HttpOutcome::kNeedMore) << size;
    }
  }
}

TEST(ProxyHeader, IsAbsentFromPlainRequests) {
  for (const std::string_view text : {"GET / HTTP/1.1", "POST /", "PROXYING"}) {
    const ProxyParse parse = parse_proxy_header(text);
    EXPECT_EQ(parse.outcome, HttpOutcome::kRequest);
    EXPECT_FALSE(parse.is_present);
    EXPECT_EQ(parse.consumed, 0u);
  }
}

TEST(ProxyHeader, IsRefusedWhenMalformed) {
  const std::string bad[] = {
      "PROXY TCP4 198.51.100.7 203.0.113.1 56324\r\n",
      "PROXY TCP4 198.51.100.7 203.0.113.1 56324 443 5\r\n",
      "PROXY TCP5 198.51.100.7 203.0.113.1 56324 443\r\n",
      "PROXY TCP4 nonsense 203.0.113.1 56324 443\r\n",
      "PROXY TCP4 198.51.100.7 203.0.113.1 x 443\r\n",
      "PROXY " + std::string(120, 'a'),
      v2(2, 1, std::string(12, 'a')),
      v2(1, 1, std::string(4, 'a')),
      v2(1, 2, std::string(12, 'a')),
      v2(1, 1, std::string(3000, 'a')),
  };
  for (const std::string& text : bad) {
    EXPECT_EQ(parse_proxy_header(text).outcome, HttpOutcome::kBad) << text;
  }
}

}  // namespace
}  // namespace gyre::net

// What happens between accept and upgrade: HTTP, limits, proxies.
#include <gtest/gtest.h>

#include <string>

#include "support/pool_fixture.h"

namespace gyre::net {
namespace {

using test::close_frame;
using test::kUpgrade;
using Strings = std::vector<std::string>;

class HandshakeTest : public test::PoolFixture {};

TEST_F(HandshakeTest, HandshakeEndsAtItsDeadlineFromAccept) {
  const int silent = connect();
  const int dripping = connect();
  give(dripping, "GET / HTTP/1.1\r\nHost: relay.test\r\nX-Kelp: ");
  for (int step = 0; step < 2; ++step) {
    pass_s(4);
    give(dripping, "a");
  }
  EXPECT_FALSE(is_closed(silent));
  pass_s(2.1);
  EXPECT_TRUE(is_closed(silent));
  EXPECT_EQ(io_.socket(silent).sent, "");
  EXPECT_EQ(status(dripping), 408);
  pass_s(1);
  EXPECT_TRUE(is_closed(dripping));
  EXPECT_EQ(pool_.counters().handshake_timeouts, 2u);
}

TEST_F(HandshakeTest, HandsPlainRequestsToTheRelay) {
  relay_.response.body = "{}";
  relay_.response.content_type = "application/nostr+json";
  for (const std::string_view method : {"GET", "OPTIONS", "HEAD", "DELETE"}) {
    const int client = connect();
    give(client, std::string(method) + " /x HTTP/1.1\r\nHost: relay.test\r\n\r\n");
    EXPECT_EQ(relay_.requests.back(), std::string(method) + " /x from 203.0.113.5");
    EXPECT_EQ(status(client), 200);
    EXPECT_EQ(io_.socket(client).sent.ends_with("{}"), method != "HEAD");
    EXPECT_TRUE(is_closed(client));
  }
  EXPECT_EQ(relay_.ids.size(), 0u);
}

TEST_F(HandshakeTest, UpgradesEvenIfTheDocumentWouldBeAcceptable) {
  const int client = connect();
  std::string request(kUpgrade);
  request.insert(request.size() - 2, "Accept: application/nostr+json\r\n");
  give(client, request);
  EXPECT_EQ(status(client), 101);
}

TEST_F(HandshakeTest, AnswersBeforeItResetsAClientThatSendsABody) {
  const int client = connect();
  give(client, "POST / HTTP/1.1\r\nHost: relay.test\r\nContent-Length: 100\r\n\r\nhalf");
  EXPECT_EQ(status(client), 200);
  EXPECT_FALSE(is_closed(client));
  give(client, "and the other half");
  pass_s(1.2);
  EXPECT_TRUE(is_closed(client));
}

// The kernel may have noticed a reset together with the bytes before it, and then tells only a
// receive that is armed after them.
TEST_F(HandshakeTest, ArmsAnotherReceiveBehindPartOfARequest) {
  const int client = connect();
  EXPECT_EQ(io_.socket(client).receives_submitted, 1);
  give(client, "GET / HTTP/1.1\r\nHost: rel");
  EXPECT_EQ(io_.socket(client).receives_submitted, 2);
  io_.reset_peer(client);
  settle();
  EXPECT_TRUE(is_closed(client));
  const int other = connect();
  give(other, kUpgrade);
  EXPECT_EQ(io_.socket(other).receives_submitted, 1) << "a whole one costs nothing more";
}

TEST_F(HandshakeTest, AnswersAClientThatHasEndedItsSide) {
  const int client = connect();
  io_.socket(client).sends = test::FakeIo::Sends::kHold;
  io_.deliver(client, "GET / HTTP/1.1\r\nHost: relay.test\r\n\r\n");
  io_.end_peer(client);
  turn();
  EXPECT_FALSE(is_closed(client));
  io_.complete_send(client);
  settle();
  EXPECT_EQ(status(client), 200);
  EXPECT_TRUE(is_closed(client));
}

TEST_F(HandshakeTest, RefusesBadRequestsAndUpgrades) {
  const std::pair<std::string, int> cases[] = {
      {"nonsense\x01 \r\n\r\n", 400},
      {"GET / HTTP/3.0\r\nHost: a\r\n\r\n", 505},
      {"GET /" + std::string(9000, 'a'), 414},
  };
  for (const auto& [request, expected] : cases) {
    const int client = connect();
    give(client, request);
    EXPECT_EQ(status(client), expected);
    pass_s(1.2);
    EXPECT_TRUE(is_closed(client));
  }
  std::string wrong_path(kUpgrade);
  wrong_path.insert(5, "elsewhere");
  const int client = connect();
  give(client, wrong_path);
  EXPECT_EQ(status(client), 404);
}

TEST_F(HandshakeTest, CountsEveryAcceptedConnectionInTotal) {
  limits_.connections = 2;
  const int one = connect();
  open();
  const int refused = connect();
  EXPECT_EQ(status(refused), 503);
  EXPECT_EQ(pool_.counters().refused_total_limit, 1u);
  EXPECT_EQ(admission_.open_count(), 2u);
  io_.end_peer(one);
  settle();
  open();
  EXPECT_EQ(admission_.open_count(), 2u);
}

TEST_F(HandshakeTest, LimitsConnectionsOfOneAddress) {
  limits_.connections_per_ip = 1;
  const int first = open("203.0.113.5");
  const int refused = connect("203.0.113.5");
  EXPECT_EQ(status(refused), 429);
  give(refused, kUpgrade);
  pass_s(1.2);
  EXPECT_TRUE(is_closed(refused));
  open("203.0.113.6");
  EXPECT_EQ(pool_.counters().refused_ip_limit, 1u);
  give(first, close_frame(1000));
  open("203.0.113.5");
}

TEST_F(HandshakeTest, TurnsAFloodAwayWithoutAWord) {
  limits_.connections_per_ip = 1;
  open();
  int silent = 0;
  for (int count = 0; count < 100; ++count) {
    const int client = connect();
    if (is_closed(client)) {
      EXPECT_EQ(io_.socket(client).sent, "");
      ++silent;
    }
  }
  EXPECT_EQ(silent, 36) << "64 are told at a time";
}

TEST_F(HandshakeTest, BelievesTrustedProxiesOnly) {
  limits_.trusted_proxies = {*runtime::IpPrefix::parse("10.0.0.0/8")};
  std::string request(kUpgrade);
  request.insert(request.size() - 2, "X-Forwarded-For: 6.6.6.6, 198.51.100.7\r\n");
  for (const std::string_view peer : {"10.1.1.1", "203.0.113.5"}) {
    const int client = connect(peer);
    give(client, request);
    EXPECT_EQ(status(client), 101);
  }
  EXPECT_EQ(relay_.addresses, (Strings{"198.51.100.7", "203.0.113.5"}));
}

TEST_F(HandshakeTest, LimitsAddressesBehindAProxyOnceTheyAreKnown) {
  limits_.trusted_proxies = {*runtime::IpPrefix::parse("10.0.0.0/8")};
  limits_.connections_per_ip = 1;
  std::string request(kUpgrade);
  request.insert(request.size() - 2, "X-Forwarded-For: 198.51.100.7\r\n");
  const int first = connect("10.1.1.1");
  const int second = connect("10.1.1.1");
  give(first, request);
  give(second, request);
  EXPECT_EQ(status(first), 101);
  EXPECT_EQ(status(second), 429);
  EXPECT_EQ(pool_.counters().refused_ip_limit, 1u);
  EXPECT_TRUE(is_closed(second));
  EXPECT_EQ(admission_.open_count(), 1u);
}

TEST_F(HandshakeTest, ReadsProxyHeadersOfTrustedProxies) {
  limits_.trusted_proxies = {*runtime::IpPrefix::parse("10.0.0.0/8")};
  const std::string header = "PROXY TCP4 198.51.100.7 203.0.113.1 56324 443\r\n";
  const int whole = connect("10.1.1.1");
  give(whole, header + std::string(kUpgrade));
  EXPECT_EQ(status(whole), 101);
  const int cut = connect("10.1.1.1");
  for (const char c : header + std::string(kUpgrade)) give(cut, {&c, 1});
  EXPECT_EQ(status(cut), 101);
  EXPECT_EQ(relay_.addresses, (Strings{"198.51.100.7", "198.51.100.7"}));
  const int broken = connect("10.1.1.1");
  give(broken, "PROXY nonsense\r\n" + std::string(kUpgrade));
  EXPECT_EQ(status(broken), 400);
  const int stranger = connect("203.0.113.5");
  give(stranger, header + std::string(kUpgrade));
  EXPECT_EQ(status(stranger), 400) << "not a request";
}

}  // namespace
}  // namespace gyre::net

#include "gyre/relay/relay_url.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace gyre::relay {
namespace {

bool names(std::string_view own, std::string_view text) {
  const auto url = parse_relay_url(own);
  EXPECT_TRUE(url.has_value()) << own;
  const std::vector<RelayUrl> own_urls = {*url};
  return names_this_relay(text, own_urls);
}

TEST(RelayUrl, WaysToWriteTheSameRelayAreTheSame) {
  const char* const own = "wss://relay.example/";
  for (const char* const text :
       {"wss://relay.example/", "wss://relay.example", "WSS://Relay.Example:443/",
        "wss://relay.example:443", "wss://relay.example//", "ws://relay.example",
        "ws://relay.example:80/", "wss://relay.example?x=1", "wss://relay.example/#x",
        "wss://relay.example:"}) {
    EXPECT_TRUE(names(own, text)) << text;
  }
}

TEST(RelayUrl, OtherRelaysAreOthers) {
  const char* const own = "wss://relay.example/";
  for (const char* const text : {"wss://evil.example",
                                 "wss://relay.example.evil.example/",
                                 "wss://relay.example/other",
                                 "wss://relay.exampl",
                                 "wss://xrelay.example",
                                 "wss://relay.example:444",
                                 "ws://relay.example:443",
                                 "wss://relay.example:80",
                                 "https://relay.example",
                                 "http://relay.example",
                                 "relay.example",
                                 "//relay.example",
                                 "wss:relay.example",
                                 "wss:/relay.example",
                                 "wss://",
                                 "wss:///",
                                 "",
                                 "wss://relay.example@evil.example",
                                 "wss://user@relay.example",
                                 "wss://user:pass@relay.example/",
                                 " wss://relay.example",
                                 "wss://relay.example /",
                                 "wss://evil.example/wss://relay.example",
                                 "wss://evil.example/?wss://relay.example"}) {
    EXPECT_FALSE(names(own, text)) << text;
  }
}

TEST(RelayUrl, OwnPathMayBeLeftOutButNotChanged) {
  const char* const own = "wss://relay.test/sub";
  for (const char* const text : {"wss://relay.test/sub", "wss://relay.test/sub/",
                                 "wss://RELAY.test", "wss://relay.test:443/sub"}) {
    EXPECT_TRUE(names(own, text)) << text;
  }
  for (const char* const text :
       {"wss://other.test", "wss://other.test/sub", "wss://relay.test/subs", "wss://relay.test/SUB",
        "wss://relay.test/sub/x", "wss://relay.test/x"}) {
    EXPECT_FALSE(names(own, text)) << text;
  }
}

TEST(RelayUrl, PortThatIsNoDefaultCounts) {
  EXPECT_TRUE(names("ws://localhost:7447", "ws://LOCALHOST:7447/"));
  EXPECT_FALSE(names("ws://localhost:7447", "ws://localhost"));
  EXPECT_FALSE(names("ws://localhost:7447", "ws://localhost:7448"));
}

TEST(RelayUrl, Ipv6HostKeepsItsColons) {
  EXPECT_EQ(parse_relay_url("ws://[::1]")->host, "[::1]");
  EXPECT_EQ(parse_relay_url("ws://[::1]:80/x")->host, "[::1]");
  EXPECT_EQ(parse_relay_url("ws://[::1]:7447")->host, "[::1]:7447");
  EXPECT_EQ(parse_relay_url("ws://[2001:DB8::80]")->host, "[2001:db8::80]");
}

TEST(RelayUrl, AnyOfSeveralOwnUrlsWillDo) {
  const std::vector<RelayUrl> own = {*parse_relay_url("wss://a.test"),
                                     *parse_relay_url("ws://b.test:7447/x")};
  EXPECT_TRUE(names_this_relay("wss://a.test", own));
  EXPECT_TRUE(names_this_relay("ws://b.test:7447", own));
  EXPECT_FALSE(names_this_relay("ws://a.test:7447", own));
  EXPECT_FALSE(names_this_relay("wss://a.test", {}));
}

}  // namespace
}  // namespace gyre::relay

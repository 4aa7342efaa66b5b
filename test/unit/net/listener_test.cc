#include "gyre/net/listener.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <string>

namespace gyre::net {
namespace {

using runtime::Address;

class Listener : public testing::Test {
 protected:
  ~Listener() override {
    for (const int socket : sockets_) ::close(socket);
  }
  void open(std::string_view address, std::size_t count) {
    auto sockets = open_listeners(*Address::parse(address), count);
    ASSERT_TRUE(sockets.ok()) << sockets.status();
    sockets_ = *sockets;
  }
  static int option(int socket, int level, int name) {
    int value = -1;
    socklen_t size = sizeof value;
    EXPECT_EQ(::getsockopt(socket, level, name, &value, &size), 0);
    return value;
  }
  std::vector<int> sockets_;
};

TEST_F(Listener, SharesOneFreePortAmongAllShards) {
  open("127.0.0.1:0", 3);
  ASSERT_EQ(sockets_.size(), 3u);
  const Address first = local_address(sockets_[0]);
  EXPECT_NE(first.port, 0);
  EXPECT_EQ(first.ip.to_string(), "127.0.0.1");
  for (const int socket : sockets_) EXPECT_EQ(local_address(socket).port, first.port);
}

TEST_F(Listener, SetsWhatAcceptedSocketsInherit) {
  open("127.0.0.1:0", 1);
  EXPECT_NE(option(sockets_[0], IPPROTO_TCP, TCP_NODELAY), 0);
  EXPECT_EQ(option(sockets_[0], IPPROTO_TCP, TCP_NOTSENT_LOWAT), 128 * 1024);
  EXPECT_EQ(option(sockets_[0], IPPROTO_TCP, TCP_USER_TIMEOUT), 60'000);
  EXPECT_NE(option(sockets_[0], SOL_SOCKET, SO_ACCEPTCONN), 0);
}

TEST_F(Listener, TakesIpv4TooOnTheIpv6Wildcard) {
  auto sockets = open_listeners(*Address::parse("[::]:0"), 1);
  if (!sockets.ok()) {
    EXPECT_NE(sockets.status().message().find("net.listen"), std::string::npos);
    return;
  }
  sockets_ = *sockets;
  EXPECT_EQ(option(sockets_[0], IPPROTO_IPV6, IPV6_V6ONLY), 0);
}

TEST_F(Listener, NamesAddressAndCureWhenThePortIsTaken) {
  open("127.0.0.1:0", 1);
  const auto again = open_listeners(local_address(sockets_[0]), 1);
  ASSERT_FALSE(again.ok());
  const std::string message(again.status().message());
  EXPECT_NE(message.find(local_address(sockets_[0]).to_string()), std::string::npos) << message;
  EXPECT_NE(message.find("another process listens"), std::string::npos) << message;
}

TEST_F(Listener, NamesTheCureWhenNoInterfaceHasTheAddress) {
  const auto sockets = open_listeners(*Address::parse("192.0.2.1:0"), 1);
  ASSERT_FALSE(sockets.ok());
  EXPECT_NE(sockets.status().message().find("no interface"), std::string::npos);
}

}  // namespace
}  // namespace gyre::net

// What only the simulated network has; the rest is in io_contract_test.cc.
#include "support/sim_io.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "gyre/base/random.h"
#include "io_harness.h"
#include "support/sim_clock.h"

namespace gyre::test {
namespace {

using runtime::Io;
using runtime::Waker;

TEST(SimClock, StandsStillUntilAdvanced) {
  SimClock clock;
  const std::uint64_t start_ns = clock.monotonic_ns();
  EXPECT_EQ(clock.unix_s(), SimClock::kStartUnixS);
  clock.advance_ms(1'999);
  EXPECT_EQ(clock.monotonic_ns(), start_ns + 1'999'000'000);
  EXPECT_EQ(clock.unix_s(), SimClock::kStartUnixS + 1);
  clock.advance_to(start_ns);
  EXPECT_EQ(clock.monotonic_ns(), start_ns + 1'999'000'000);
  clock.advance_to(start_ns + 5'000'000'000);
  EXPECT_EQ(clock.unix_s(), SimClock::kStartUnixS + 5);
}

TEST(SimClock, TheWallClockCanBeSetAlone) {
  SimClock clock;
  clock.advance_s(10);
  const std::uint64_t before_ns = clock.monotonic_ns();
  clock.set_unix_s(100);
  EXPECT_EQ(clock.unix_s(), 100);
  EXPECT_EQ(clock.monotonic_ns(), before_ns);
  clock.advance_s(7);
  EXPECT_EQ(clock.unix_s(), 107);
}

// A server that only keeps what it receives.
class Server {
 public:
  explicit Server(SimNetwork& network) : network_(network) {
    network_.io(0).submit_accept(network_.listener(0), accept_);
  }
  void turn() {
    Io& io = network_.io(0);
    io.reap();
    while (io.run(7)) {
    }
    io.enter(Io::Wait::kSleep, UINT64_MAX);
  }
  void turn_until_quiet() {
    for (int turns = 0; !network_.is_quiet(); ++turns) {
      ASSERT_LT(turns, 100'000);
      turn();
    }
  }

  std::vector<std::unique_ptr<runtime::ServerSocket>> sockets;
  std::vector<int> failures;

  void accept_again() { network_.io(0).submit_accept(network_.listener(0), accept_); }

 private:
  void on_accept(const runtime::CompletionResult& result) {
    if (result.result < 0) {
      failures.push_back(result.result);
      return;
    }
    sockets.push_back(std::make_unique<runtime::ServerSocket>(network_.io(0), result.result));
    sockets.back()->receive();
  }

  SimNetwork& network_;
  runtime::Completion accept_ = runtime::bind<&Server::on_accept>(*this);
};

std::string history(std::uint64_t seed) {
  SeededRandom random(seed);
  SimNetwork network(1, random);
  Server server(network);
  std::string history;
  for (int i = 0; i < 5; ++i) network.write(network.connect(0), runtime::patterned(3'000, 1));
  for (int turn = 0; turn < 30; ++turn) {
    server.turn();
    for (const auto& socket : server.sockets) {
      history += std::to_string(socket->received.size()) + " ";
    }
  }
  return history;
}

TEST(SimNetwork, ASeedReplaysItsRunAndAnotherDoesNot) {
  EXPECT_EQ(history(1), history(1));
  EXPECT_NE(history(1), history(2));
}

TEST(SimNetwork, InjectedFailuresEndTheAcceptAndLeaveTheClientInLine) {
  SeededRandom random(1);
  SimNetwork network(1, random);
  Server server(network);
  network.fail_accepts(0, 2, EMFILE);
  const int client = network.connect(0);
  server.turn_until_quiet();
  server.accept_again();
  server.turn_until_quiet();
  EXPECT_EQ(server.failures, (std::vector<int>{-EMFILE, -EMFILE}));
  EXPECT_FALSE(network.is_accepted(client));
  server.accept_again();
  server.turn_until_quiet();
  EXPECT_TRUE(network.is_accepted(client));
}

TEST(SimNetwork, SocketBuffersAreBoundedBothWays) {
  SeededRandom random(1);
  SimNetwork network(1, random, {.socket_buffer_bytes = 1'000});
  Server server(network);
  const int client = network.connect(0);
  network.stop_reading(client);
  server.turn_until_quiet();
  runtime::ServerSocket& socket = *server.sockets.at(0);
  socket.cancel_receive();
  server.turn_until_quiet();
  network.write(client, std::string(5'000, 'a'));
  socket.send({std::string(1'500, 'b')});
  server.turn_until_quiet();
  EXPECT_EQ(network.unsent_bytes(client), 4'000u);
  EXPECT_EQ(socket.send_ends, 0);
  network.resume_reading(client);
  socket.receive();
  server.turn_until_quiet();
  EXPECT_EQ(network.unsent_bytes(client), 0u);
  EXPECT_EQ(socket.received.size(), 5'000u);
  EXPECT_EQ(socket.send_result, 1'500);
  EXPECT_EQ(network.read(client), std::string(1'500, 'b'));
}

TEST(SimNetwork, SendingToAClientThatClosedBreaksTheConnection) {
  SeededRandom random(1);
  SimNetwork network(1, random);
  Server server(network);
  const int client = network.connect(0);
  server.turn_until_quiet();
  runtime::ServerSocket& socket = *server.sockets.at(0);
  network.close(client);
  server.turn_until_quiet();
  EXPECT_EQ(socket.receive_result, 0);
  socket.send({"anybody?"});
  server.turn_until_quiet();
  EXPECT_EQ(socket.send_ends, 1);
  socket.send({"anybody?"});
  server.turn_until_quiet();
  EXPECT_EQ(socket.send_ends, 2);
  EXPECT_LT(socket.send_result, 0);
}

TEST(SimNetwork, ClosingOverUnreadInputResetsTheClient) {
  SeededRandom random(1);
  SimNetwork network(1, random);
  Server server(network);
  const int client = network.connect(0);
  server.turn_until_quiet();
  runtime::ServerSocket& socket = *server.sockets.at(0);
  socket.cancel_receive();
  server.turn_until_quiet();
  EXPECT_EQ(network.open_socket_count(0), 1u);
  network.write(client, "unread");
  server.turn_until_quiet();
  network.io(0).close(socket.descriptor);
  EXPECT_EQ(network.open_socket_count(0), 0u);
  EXPECT_TRUE(network.is_ended(client));
  EXPECT_TRUE(network.is_reset(client));
}

TEST(SimNetwork, AClosedListenerRefuses) {
  SeededRandom random(1);
  SimNetwork network(2, random);
  const int in_line = network.connect(1);
  network.io(1).close(network.listener(1));
  const int late = network.connect(1);
  EXPECT_TRUE(network.is_reset(in_line));
  EXPECT_TRUE(network.is_reset(late));
}

TEST(SimNetwork, IsNotQuietWhileAWakeUpIsRemembered) {
  SeededRandom random(1);
  SimNetwork network(2, random);
  EXPECT_TRUE(network.is_quiet());
  network.io(0).wake(1);
  EXPECT_EQ(network.wake_count(1), 1u);
  EXPECT_FALSE(network.is_quiet());
  network.io(1).enter(Io::Wait::kSleep, UINT64_MAX);
  EXPECT_TRUE(network.is_quiet());
  Waker& waker = network.io(0).waker();
  waker.wake();
  EXPECT_FALSE(network.is_quiet());
}

TEST(SimNetworkDeathTest, MisuseOfDescriptorsIsCaught) {
  SeededRandom random(1);
  SimNetwork network(1, random);
  Server server(network);
  network.connect(0);
  server.turn_until_quiet();
  runtime::ServerSocket& socket = *server.sockets.at(0);
  EXPECT_DEATH(network.io(0).close(socket.descriptor), "receive == nullptr");
  EXPECT_DEATH(socket.receive(), "receive == nullptr");
  socket.cancel_receive();
  server.turn_until_quiet();
  network.io(0).close(socket.descriptor);
  EXPECT_DEATH(network.io(0).shutdown(socket.descriptor), "is_server_closed");
}

}  // namespace
}  // namespace gyre::test

// One shard's connections on a FakeIo, a clock that the test moves, and a relay that writes down
// what it hears.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gyre/net/connection.h"
#include "support/client_frames.h"
#include "support/fake_io.h"

namespace gyre::net::test {

class ManualClock final : public Clock {
 public:
  [[nodiscard]] std::uint64_t monotonic_ns() const override { return now_ns; }
  [[nodiscard]] std::int64_t unix_s() const override { return 1'767'225'600; }
  std::uint64_t now_ns = 5'000'000'000;
};

class RecordingRelay final : public ConnectionHandler {
 public:
  HttpResponse on_http(const HttpRequest& request) override {
    const Depth depth(*this);
    requests.push_back(std::string(request.method) + " " + std::string(request.path) + " from " +
                       request.address.to_string());
    return response;
  }
  void on_open(Connection& connection) override {
    const Depth depth(*this);
    ids.push_back(connection.id());
    addresses.push_back(connection.real_ip().to_string());
    if (opened) opened(connection);
  }
  void on_message(Connection& connection, std::string_view text) override {
    const Depth depth(*this);
    EXPECT_TRUE(connection.is_open());
    messages.emplace_back(text);
    if (message) message(connection, text);
  }
  void on_binary_message(Connection& connection) override {
    const Depth depth(*this);
    connection.send_text({R"(["NOTICE","invalid: binary"])"});
  }
  void on_drained(Connection&) override {
    const Depth depth(*this);
    ++drained;
  }
  void on_closed(Connection& connection) override {
    const Depth depth(*this);
    EXPECT_FALSE(connection.is_open());
    ++closed[{connection.id().slot, connection.id().generation}];
    connection.send_text({"nobody hears this"});
  }

  [[nodiscard]] int closed_count() const {
    int count = 0;
    for (const auto& [id, times] : closed) {
      EXPECT_EQ(times, 1) << "on_closed comes once";
      count += times;
    }
    return count;
  }

  HttpResponse response;
  std::function<void(Connection&)> opened;
  std::function<void(Connection&, std::string_view)> message;
  std::vector<std::string> requests;
  std::vector<std::string> messages;
  std::vector<std::string> addresses;
  std::vector<ConnectionId> ids;
  std::map<std::pair<std::uint32_t, std::uint32_t>, int> closed;
  int drained = 0;

 private:
  // Handler calls must not nest.
  class Depth {
   public:
    explicit Depth(RecordingRelay& relay) : relay_(relay) { EXPECT_EQ(relay_.depth_++, 0); }
    ~Depth() { --relay_.depth_; }

   private:
    RecordingRelay& relay_;
  };
  int depth_ = 0;
};

inline constexpr std::string_view kUpgrade =
    "GET / HTTP/1.1\r\nHost: relay.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

class PoolFixture : public testing::Test {
 protected:
  static constexpr std::uint64_t kSecondNs = 1'000'000'000;

  PoolFixture() { pool_.start_listening(3); }
  ~PoolFixture() override {
    pool_.drop_all();
    pool_.stop_listening();
    settle();
    EXPECT_TRUE(pool_.is_empty());
    EXPECT_EQ(pool_.open_count(), 0u);
    EXPECT_EQ(admission_.open_count(), 0u);
    EXPECT_EQ(io_.open_sockets(), 0u);
    EXPECT_TRUE(io_.is_listener_closed());
    EXPECT_EQ(relay_.closed_count(), static_cast<int>(relay_.ids.size()));
  }

  static runtime::IpAddress ip(std::string_view text) { return *runtime::IpAddress::parse(text); }

  // One turn of the loop.
  bool turn() {
    bool is_busy = io_.run_all();
    is_busy = timers_.advance(clock_.now_ns, 1000) || is_busy;
    is_busy = pool_.work() || is_busy;
    pool_.flush();
    return is_busy;
  }
  // Turns until nothing is left to do.
  void settle() {
    int turns = 0;
    while (turn()) ASSERT_LT(++turns, 100'000);
  }
  // Time passes, in steps small enough that no timer is late by more than one.
  void pass_s(double seconds) {
    const auto end = clock_.now_ns + static_cast<std::uint64_t>(seconds * 1e9);
    while (clock_.now_ns < end) {
      clock_.now_ns = std::min(end, clock_.now_ns + 100'000'000);
      settle();
    }
  }

  int connect(std::string_view address = "203.0.113.5") {
    const int socket = io_.connect(ip(address));
    settle();
    return socket;
  }
  int open(std::string_view address = "203.0.113.5") {
    const int socket = connect(address);
    give(socket, kUpgrade);
    EXPECT_TRUE(io_.socket(socket).sent.starts_with("HTTP/1.1 101 ")) << io_.socket(socket).sent;
    return socket;
  }
  void give(int socket, std::string_view bytes) {
    io_.deliver(socket, bytes);
    settle();
  }
  Connection& last() { return *pool_.find(relay_.ids.back()); }

  // What came behind the 101.
  std::vector<ServerFrame> frames(int socket) {
    std::string_view sent = io_.socket(socket).sent;
    const std::size_t end = sent.find("\r\n\r\n");
    EXPECT_NE(end, std::string_view::npos);
    return server_frames(sent.substr(std::min(sent.size(), end + 4)));
  }
  std::vector<std::string> texts(int socket) {
    std::vector<std::string> result;
    for (const ServerFrame& frame : frames(socket)) {
      if (frame.opcode == kText) result.push_back(frame.payload);
    }
    return result;
  }
  int status(int socket) {
    const std::string& sent = io_.socket(socket).sent;
    return sent.starts_with("HTTP/1.1 ") ? std::stoi(sent.substr(9, 3)) : 0;
  }
  bool is_closed(int socket) { return io_.socket(socket).is_closed; }

  FakeIo io_;
  ManualClock clock_;
  runtime::TimerWheel timers_{clock_.now_ns};
  NetLimits limits_;
  AdmissionTable admission_;
  RecordingRelay relay_;
  ConnectionPool pool_{io_, timers_, clock_, limits_, admission_, relay_};
};

}  // namespace gyre::net::test

#include "io_harness.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "support/sim_io.h"

namespace gyre::runtime {
namespace {

constexpr std::uint64_t kPatienceNs = 20'000'000'000;

class UringHarness final : public IoHarness {
 public:
  explicit UringHarness(const UringOptions& options) : set_(1) {
    auto io = make_uring_io(0, set_, options);
    GYRE_ASSERT(io.ok());
    io_ = *std::move(io);
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    address_.sin_family = AF_INET;
    address_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof address_;
    auto* const name = reinterpret_cast<sockaddr*>(&address_);
    GYRE_ASSERT(bind(listener_, name, length) == 0);
    GYRE_ASSERT(listen(listener_, 1024) == 0);
    GYRE_ASSERT(getsockname(listener_, name, &length) == 0);
  }
  ~UringHarness() override {
    for (const Client& client : clients_) {
      if (client.descriptor >= 0) close(client.descriptor);
    }
    close(listener_);
  }

  Io& io() override { return *io_; }
  int listener() override { return listener_; }

  int connect() override {
    Client client;
    client.descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    GYRE_ASSERT(client.descriptor >= 0);
    const auto* const name = reinterpret_cast<const sockaddr*>(&address_);
    GYRE_ASSERT(::connect(client.descriptor, name, sizeof address_) == 0);
    clients_.push_back(client);
    return static_cast<int>(clients_.size()) - 1;
  }
  void write(int client, std::string_view bytes) override {
    at(client).unsent.append(bytes);
    pump();
  }
  std::string read(int client) override { return std::exchange(at(client).inbox, {}); }
  void stop_reading(int client) override { at(client).is_reading = false; }
  void resume_reading(int client) override { at(client).is_reading = true; }
  void finish(int client) override { at(client).is_finishing = true; }
  void reset(int client) override {
    // Closing with a linger time of zero sends RST.
    const linger at_once = {1, 0};
    setsockopt(at(client).descriptor, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(std::exchange(at(client).descriptor, -1));
  }
  bool is_ended(int client) override { return at(client).is_ended; }
  Address address(int client) override {
    sockaddr_in name{};
    socklen_t length = sizeof name;
    getsockname(at(client).descriptor, reinterpret_cast<sockaddr*>(&name), &length);
    return {IpAddress::parse("127.0.0.1").value(), ntohs(name.sin_port)};
  }

 protected:
  void pump() override {
    for (Client& client : clients_) {
      if (client.descriptor < 0) continue;
      pump_out(client);
      if (client.is_reading) pump_in(client);
    }
  }

 private:
  struct Client {
    int descriptor = -1;
    std::string unsent;
    std::string inbox;
    bool is_reading = true;
    bool is_finishing = false;
    bool is_ended = false;
  };
  Client& at(int client) { return clients_.at(static_cast<std::size_t>(client)); }

  static void pump_out(Client& client) {
    if (!client.unsent.empty()) {
      const ssize_t sent = ::send(client.descriptor, client.unsent.data(), client.unsent.size(),
                                  MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent > 0) client.unsent.erase(0, static_cast<std::size_t>(sent));
    } else if (client.is_finishing) {
      ::shutdown(client.descriptor, SHUT_WR);
      client.is_finishing = false;
    }
  }
  static void pump_in(Client& client) {
    char bytes[65536];
    const ssize_t got = ::recv(client.descriptor, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) client.inbox.append(bytes, static_cast<std::size_t>(got));
    if (got == 0 || (got < 0 && errno != EAGAIN)) client.is_ended = true;
  }

  UringSet set_;
  std::unique_ptr<Io> io_;
  int listener_ = -1;
  sockaddr_in address_{};
  std::vector<Client> clients_;
};

class SimHarness final : public IoHarness {
 public:
  SimHarness() : random_(7), network_(1, random_) {
    network_.set_file_reader([](int file, std::uint64_t offset, std::span<std::uint8_t> out) {
      const ssize_t got = pread(file, out.data(), out.size(), static_cast<off_t>(offset));
      return static_cast<std::int32_t>(got < 0 ? -errno : got);
    });
  }
  Io& io() override { return network_.io(0); }
  int listener() override { return network_.listener(0); }
  int connect() override {
    addresses_.push_back({IpAddress::parse("192.0.2.1").value(),
                          static_cast<std::uint16_t>(1'000 + addresses_.size())});
    return network_.connect(0, addresses_.back());
  }
  void write(int client, std::string_view bytes) override { network_.write(client, bytes); }
  std::string read(int client) override { return network_.read(client); }
  void stop_reading(int client) override { network_.stop_reading(client); }
  void resume_reading(int client) override { network_.resume_reading(client); }
  void finish(int client) override { network_.finish(client); }
  void reset(int client) override { network_.reset(client); }
  bool is_ended(int client) override { return network_.is_ended(client); }
  Address address(int client) override { return addresses_.at(static_cast<std::size_t>(client)); }

 protected:
  void pump() override {}

 private:
  SeededRandom random_;
  test::SimNetwork network_;
  std::vector<Address> addresses_;
};

}  // namespace

void IoHarness::turn() {
  io().reap();
  while (io().run(256)) {
  }
  io().enter(Io::Wait::kPoll, 0);
  pump();
}

std::uint64_t IoHarness::patience_end_ns() { return SystemClock().monotonic_ns() + kPatienceNs; }

bool IoHarness::is_over(std::uint64_t end_ns) { return SystemClock().monotonic_ns() > end_ns; }

std::unique_ptr<IoHarness> make_uring_harness(const UringOptions& options) {
  return std::make_unique<UringHarness>(options);
}

std::unique_ptr<IoHarness> make_sim_harness() { return std::make_unique<SimHarness>(); }

ServerSocket::ServerSocket(Io& io, int socket) : descriptor(socket), io_(io) {}

void ServerSocket::send(std::vector<std::string> parts) {
  parts_ = std::move(parts);
  slices_.clear();
  for (std::string& part : parts_) slices_.push_back({part.data(), part.size()});
  io_.submit_send(descriptor, slices_, send_);
  EXPECT_TRUE(send_.is_armed);
}

void ServerSocket::on_receive(const CompletionResult& result) {
  EXPECT_EQ(result.more, receive_.is_armed);
  if (result.result > 0) {
    ASSERT_EQ(result.bytes.size(), static_cast<std::size_t>(result.result));
    // A parser may read over the end.
    volatile std::uint8_t sink = 0;
    for (std::size_t i = 0; i < Io::kReceivePadding; ++i)
      sink = result.bytes.data()[result.bytes.size() + i];
    (void)sink;
    received.append(reinterpret_cast<const char*>(result.bytes.data()), result.bytes.size());
    std::memset(result.bytes.data(), 'x', result.bytes.size());
  } else {
    EXPECT_FALSE(result.more) << result.result;
  }
  if (!result.more) {
    ++receive_ends;
    receive_result = result.result;
  } else if (cancels_when_called) {
    io_.cancel(receive_);
  }
}

void ServerSocket::on_send(const CompletionResult& result) {
  EXPECT_FALSE(result.more);
  EXPECT_FALSE(send_.is_armed);
  ++send_ends;
  send_result = result.result;
  parts_.clear();
  if (when_sent) when_sent();
}

void Acceptor::on_accept(const CompletionResult& accepted) {
  EXPECT_EQ(accepted.more, accept_.is_armed);
  if (accepted.result >= 0) {
    sockets.push_back(std::make_unique<ServerSocket>(harness_.io(), accepted.result));
  }
  if (!accepted.more) {
    ++ends;
    result = accepted.result;
  }
}

std::string patterned(std::size_t size, std::uint64_t seed) {
  std::string bytes(size, '\0');
  SeededRandom random(seed);
  random.fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

}  // namespace gyre::runtime

// One set of clients for both kinds of Io, so that both are held to one contract: the real one over
// loopback TCP, the simulated one over SimNetwork.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/runtime/io.h"
#include "gyre/runtime/uring_io.h"

namespace gyre::runtime {

class IoHarness {
 public:
  virtual ~IoHarness() = default;
  [[nodiscard]] virtual Io& io() = 0;
  [[nodiscard]] virtual int listener() = 0;
  // The numbers of clients count from 0.
  virtual int connect() = 0;
  virtual void write(int client, std::string_view bytes) = 0;
  [[nodiscard]] virtual std::string read(int client) = 0;
  virtual void stop_reading(int client) = 0;
  virtual void resume_reading(int client) = 0;
  virtual void finish(int client) = 0;
  virtual void reset(int client) = 0;
  [[nodiscard]] virtual bool is_ended(int client) = 0;
  [[nodiscard]] virtual Address address(int client) = 0;

  // One turn of the shard, and of the clients.
  void turn();
  // Turns until `condition` holds; false if it does not within some seconds.
  template <typename Condition>
  [[nodiscard]] bool turn_until(Condition condition) {
    for (const std::uint64_t end_ns = patience_end_ns(); !condition();) {
      if (is_over(end_ns)) return false;
      turn();
    }
    return true;
  }

 protected:
  virtual void pump() = 0;

 private:
  [[nodiscard]] static std::uint64_t patience_end_ns();
  [[nodiscard]] static bool is_over(std::uint64_t end_ns);
};

[[nodiscard]] std::unique_ptr<IoHarness> make_uring_harness(const UringOptions& options = {});
[[nodiscard]] std::unique_ptr<IoHarness> make_sim_harness();

// The server's end of a connection: keeps what it received and how its operations ended.
class ServerSocket {
 public:
  ServerSocket(Io& io, int descriptor);
  ServerSocket(const ServerSocket&) = delete;
  ServerSocket& operator=(const ServerSocket&) = delete;

  void receive() { io_.submit_recv(descriptor, receive_); }
  void cancel_receive() { io_.cancel(receive_); }
  void send(std::vector<std::string> parts);
  [[nodiscard]] bool is_receiving() const { return receive_.is_armed; }
  [[nodiscard]] bool is_sending() const { return send_.is_armed; }

  const int descriptor;
  std::string received;
  int receive_ends = 0;
  int receive_result = 1;  // Of the last end; 1 is none that an end can have here.
  int send_ends = 0;
  int send_result = 1;
  bool cancels_when_called = false;
  std::function<void()> when_sent;

 private:
  void on_receive(const CompletionResult& result);
  void on_send(const CompletionResult& result);

  Io& io_;
  Completion receive_ = bind<&ServerSocket::on_receive>(*this);
  Completion send_ = bind<&ServerSocket::on_send>(*this);
  std::vector<std::string> parts_;
  std::vector<iovec> slices_;
};

// Accepts everybody.
class Acceptor {
 public:
  explicit Acceptor(IoHarness& harness) : harness_(harness) {}
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  void start() { harness_.io().submit_accept(harness_.listener(), accept_); }
  void cancel() { harness_.io().cancel(accept_); }
  [[nodiscard]] bool is_armed() const { return accept_.is_armed; }

  std::vector<std::unique_ptr<ServerSocket>> sockets;
  int ends = 0;
  int result = 1;

 private:
  void on_accept(const CompletionResult& result);

  IoHarness& harness_;
  Completion accept_ = bind<&Acceptor::on_accept>(*this);
};

// `size` bytes that tell their place, so that a loss or a swap anywhere shows.
[[nodiscard]] std::string patterned(std::size_t size, std::uint64_t seed);

}  // namespace gyre::runtime

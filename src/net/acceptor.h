// Acceptor: one listener's endless accept, and what happens when descriptors run out.
#pragma once

#include "gyre/runtime/io.h"
#include "gyre/runtime/timer_wheel.h"

namespace gyre::net {

class ConnectionSet;

// Out of descriptors, accept ends; without more, the clients in the queue would hang until one is
// free. A descriptor held in reserve is given up then, so that one client at a time can be accepted
// and turned away, and is taken back when that one is closed.
class Acceptor {
 public:
  Acceptor(ConnectionSet& set, int listener);
  ~Acceptor();
  Acceptor(const Acceptor&) = delete;
  Acceptor& operator=(const Acceptor&) = delete;

  void start();
  // The listener is closed once the accept has ended.
  void stop();
  [[nodiscard]] bool has_ended() const { return listener_ < 0; }

 private:
  // Long enough for connections to end in the meantime, short beside a client's own time-out.
  static constexpr std::uint64_t kRetryNs = 75'000'000;

  void on_accept(const runtime::CompletionResult& result);
  void on_error(std::int32_t error);
  void on_retry();
  void end();
  void take_reserve();
  void give_up_reserve();

  ConnectionSet& set_;
  int listener_;
  int reserve_ = -1;
  bool is_stopping_ = false;
  runtime::Completion accept_;
  runtime::Timer retry_;
};

}  // namespace gyre::net

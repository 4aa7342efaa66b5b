// AskedRelay: a whole relay in memory that is asked one batch of messages at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/relay_message_text.h"
#include "sim/relay_world.h"
#include "sim/web_socket_client.h"

namespace gyre::test {

class AskedRelay {
 public:
  explicit AskedRelay(std::uint32_t shards);

  // A new connection; clients are numbered from 0. They go to the shards in turn.
  std::size_t connect();
  void send(std::size_t client, const std::string& message);
  // Lets the relay do all there is to do; `take` gets what the clients received, each in its order.
  using Take = std::function<void(std::size_t client, const RelayMessageText& message)>;
  void settle(const Take& take);

  // Ends the process in order and starts another on the same disk. All connections are gone.
  void restart();
  [[nodiscard]] std::uint64_t runs() const;

 private:
  struct Client {
    int handle;
    WebSocketClient socket;
  };
  void start();
  void turn_until_idle(const Take& take);
  bool receive(const Take& take);

  SeededRandom random_{1};
  SimClock clock_;
  SimFileSystem disk_;
  WorldOptions options_;
  std::unique_ptr<RelayWorld> world_;
  std::vector<std::unique_ptr<Client>> clients_;
};

}  // namespace gyre::test

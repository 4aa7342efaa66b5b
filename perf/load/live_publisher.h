// LivePublisher: publishes a corpus while others listen. Closed loop with a window, or open loop at
// a given rate, in which an event's time counts from the moment it was due: a relay that falls
// behind cannot hide it.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "corpus.h"
#include "websocket_client.h"

namespace gyre::load {

class LivePublisher {
 public:
  // `rate_per_s` 0: closed loop.
  LivePublisher(const RelayAddress& address, const Corpus& corpus, std::uint64_t window,
                std::uint64_t rate_per_s);

  [[nodiscard]] int fd() const { return client_.fd(); }
  // Queues what is due and sends; true if the socket is full and must be watched for writing.
  bool publish(std::uint64_t now_ns);
  // Takes the relay's answers. Ends the program if the connection is lost.
  void receive();

  [[nodiscard]] bool is_done() const { return answered_ == corpus_.size(); }
  // Events that listeners must get: accepted ones of kinds that anybody may read.
  [[nodiscard]] std::uint64_t deliverable() const { return deliverable_; }
  [[nodiscard]] std::uint64_t accepted() const { return accepted_; }
  [[nodiscard]] std::uint64_t refused() const { return answered_ - accepted_; }
  // When the event was sent, or due. Ends the program if it was not sent.
  [[nodiscard]] std::uint64_t sent_at_ns(std::string_view id) const;

 private:
  const Corpus& corpus_;
  WebSocketClient client_;
  std::uint64_t window_;
  std::uint64_t rate_per_s_;
  std::uint64_t start_ns_ = 0;
  std::size_t next_ = 0;
  std::uint64_t answered_ = 0;
  std::uint64_t accepted_ = 0;
  std::uint64_t deliverable_ = 0;
  absl::flat_hash_map<std::string_view, std::size_t> index_of_;
  std::vector<std::uint64_t> sent_at_ns_;
};

}  // namespace gyre::load

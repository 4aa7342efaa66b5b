// Outbox: a shard's way to send requests into the mesh without waiting.
//
// When a ring is full, requests to it wait here in order. What can wait is bounded by who may send:
// the session that queues a request here pauses its connection until the outbox is empty again
// (see Sessions), and queries and acknowledgements have one message each.
#pragma once

#include <deque>
#include <vector>

#include "gyre/relay/messages.h"
#include "gyre/runtime/mesh.h"

namespace gyre::relay {

class Outbox {
 public:
  explicit Outbox(runtime::MeshPort& port) : port_(port), backlog_(port.shard_count()) {}
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  template <typename Message>
  void send(ShardId to, const Message& message) {
    push(to, to_slot(message));
  }
  // Sends what can be sent; true if nothing is left waiting.
  bool flush();
  [[nodiscard]] bool is_empty() const { return waiting_ == 0; }

 private:
  void push(ShardId to, const runtime::MeshSlot& slot) {
    if (backlog_[to].empty() && port_.try_send_request(to, slot)) return;
    backlog_[to].push_back(slot);
    ++waiting_;
  }

  runtime::MeshPort& port_;
  std::vector<std::deque<runtime::MeshSlot>> backlog_;  // By destination.
  std::size_t waiting_ = 0;
};

}  // namespace gyre::relay

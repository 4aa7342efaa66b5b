#include "relay/outbox.h"

namespace gyre::relay {

Outbox::~Outbox() {
  for (const auto& waiting : backlog_) {
    for (const runtime::MeshSlot& slot : waiting) drop_message(slot);
  }
}

bool Outbox::flush() {
  if (waiting_ == 0) return true;
  for (ShardId to = 0; to < backlog_.size(); ++to) {
    auto& waiting = backlog_[to];
    while (!waiting.empty() && port_.try_send_request(to, waiting.front())) {
      waiting.pop_front();
      --waiting_;
    }
  }
  return waiting_ == 0;
}

}  // namespace gyre::relay

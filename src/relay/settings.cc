#include "gyre/relay/settings.h"

namespace gyre::relay {

std::uint64_t connection_bytes_max(const Limits& limits) {
  // A full send queue, one message half received, its events in flight with one more on top, and
  // live events held back for EOSE, which are bounded as the send queue is.
  return 2 * limits.net.send_queue_bytes + 2 * std::uint64_t{limits.net.message_bytes} +
         limits.in_flight_bytes;
}

}  // namespace gyre::relay

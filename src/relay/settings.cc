#include "gyre/relay/settings.h"

#include "relay/gatherer.h"
#include "relay/result_batch.h"

namespace gyre::relay {

std::uint64_t connection_bytes_max(const Limits& limits, std::uint32_t shard_count) {
  // Of a filter's value: its text, a term in the live index and a place in the list there.
  constexpr std::uint64_t kFilterValueBytes = 128;
  const std::uint64_t message_bytes = limits.net.message_bytes;
  const std::uint64_t batches =
      std::uint64_t{Gather::kRunningMax} * Gather::kBatchesAhead * shard_count;
  // A full send queue, one message half received, its events in flight with one more on top, live
  // events held back for EOSE, which are bounded as the send queue is; stored events fetched ahead,
  // a batch having at most one event more than its size; and the filters.
  return 2 * limits.net.send_queue_bytes + 2 * message_bytes + limits.in_flight_bytes +
         batches * (ResultBatchWriter::kFullBytes + message_bytes) +
         limits.filter_cost * kFilterValueBytes;
}

}  // namespace gyre::relay

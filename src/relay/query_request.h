// QueryRequest: what an asker wants of the owners: filters, limits and who is asking. Immutable and
// shared by all shards that work on the query.
#pragma once

#include <cstdint>
#include <vector>

#include "gyre/nostr/filter.h"
#include "gyre/storage/query.h"
#include "relay/access.h"

namespace gyre::relay {

struct QueryRequest {
  enum class Mode : std::uint8_t { kEvents, kCount };
  Mode mode = Mode::kEvents;
  std::vector<nostr::Filter> filters;
  storage::ScanLimits limits;  // Clamped.
  Access access;
  std::int64_t now_s = 0;           // Expired at this time: not served.
  std::uint64_t time_limit_ns = 0;  // Of work in one shard.
};

}  // namespace gyre::relay

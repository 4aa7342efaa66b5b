// Settings: everything about a relay that an operator may choose, and every limit, in one place.
//
// Each shard has a copy of its own. A reload gives each shard a new one between two turns. Numbers
// that NIP-11 shows are read from here by the document and by the code that enforces them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/net/limits.h"
#include "gyre/nostr/client_message.h"
#include "gyre/storage/retention.h"

namespace gyre::relay {

inline constexpr std::uint32_t kFilterCost = 32;

struct Limits {
  nostr::MessageLimits message;
  net::NetLimits net;
  std::uint64_t filter_limit_max = 5'000;    // A larger `limit` is clamped; also of a whole REQ.
  std::uint64_t filter_limit_default = 500;  // For a filter without `limit`.
  std::uint32_t subscriptions = 200;         // Open at once on one connection.
  std::uint32_t events_in_flight = 128;      // Of one connection, unanswered; then reading pauses.
  // Of all filters that one connection holds open: each counts kFilterCost and one for each of its
  // values. Bounds their memory and what an event may have to be compared with.
  std::uint32_t filter_cost = 65'536;
  std::uint64_t in_flight_bytes = 1024 * 1024;  // The same, summed.
  std::uint32_t counts_in_flight = 16;          // COUNTs of one connection, unanswered.
  std::int64_t created_at_future_s = 900;       // 0: no limit.
  std::int64_t created_at_past_s = 0;           // 0: no limit.
  std::uint64_t query_time_ns = 5'000'000'000;  // Of work for one REQ or COUNT in one shard.
  // Live events to a subscription that has been sent some more recently than this wait for more
  // (relay/live_sender.h). 0: they never wait.
  std::uint32_t gather_us = 2'000;
  std::uint32_t verify_queue = 1'024;  // Events that wait for their signature in one shard.
};

struct Settings {
  Limits limits;
  std::string name = "gyre";
  std::string description;
  std::string contact;
  std::string pubkey;  // The administrator's, 64 hex, or empty.
  std::string icon;
  std::string software;  // URL of the project page (NIP-11); empty while there is none.
  std::string version;
  std::vector<std::string> urls;  // The relay's own, for AUTH and vanish requests.
  std::vector<Bytes32> admins;
  std::vector<std::uint16_t> gated_kinds;  // Sorted. Served to author and recipients only.
  bool is_auth_required = false;
  bool has_eose_hints = true;  // NIP-67
  std::uint32_t expiry_sweep_s = 10;
  storage::RetentionPolicy retention;  // Of one shard.
};

// What one connection may hold in user memory at its worst, by these limits; logged at start.
[[nodiscard]] std::uint64_t connection_bytes_max(const Limits& limits, std::uint32_t shard_count);

}  // namespace gyre::relay

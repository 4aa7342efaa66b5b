// Limits of the transport. One copy for each shard; a reload assigns a new one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/runtime/address.h"

namespace gyre::net {

struct NetLimits {
  std::uint32_t connections = 20'000;        // Open at once, all shards together.
  std::uint32_t connections_per_ip = 200;    // Of one real address (IPv6: one /64); 0: no limit.
  std::uint32_t message_bytes = 512 * 1024;  // Of one incoming message, fragments summed.
  // Queued and unsent. Whoever is above it when the next message comes is dropped, so that one
  // message larger than the limit still reaches an idle client.
  std::uint64_t send_queue_bytes = 4 * 1024 * 1024;
  std::uint32_t handshake_timeout_s = 10;  // From accept to the end of the HTTP request.
  std::uint32_t ping_s = 30;               // Without bytes sent, or without bytes received.
  std::uint32_t pong_timeout_s = 30;       // Silence after a ping that ends the connection.
  std::uint32_t send_timeout_s = 30;       // Age of one send in flight.
  std::uint32_t close_timeout_s = 5;       // Wait for the peer's Close after ours.
  bool is_deflate_offered = false;         // permessage-deflate, to clients that ask for it.
  std::uint32_t http_head_bytes = 8 * 1024;
  // Believed when they name a client's address. Each must write the header itself: one that only
  // passes bytes on would pass on what a client forged.
  std::vector<runtime::IpPrefix> trusted_proxies;
  std::string base_path = "/";  // The one path that upgrades (nips.md T-02).
};

}  // namespace gyre::net

// Listening sockets: one for each shard on the same address (SO_REUSEPORT), made before the shards
// start.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "gyre/runtime/address.h"

namespace gyre::net {

// Binds `count` sockets. Port 0 takes a free port, the same for all. Errors name the address, the
// cause and the cure (in use, no permission below 1024, no such address). Options set here are
// inherited by accepted sockets: TCP_NODELAY, TCP_NOTSENT_LOWAT, TCP_USER_TIMEOUT.
[[nodiscard]] absl::StatusOr<std::vector<int>> open_listeners(const runtime::Address& address,
                                                              std::size_t count);

// What the kernel bound, to learn the port.
[[nodiscard]] runtime::Address local_address(int listener);

}  // namespace gyre::net

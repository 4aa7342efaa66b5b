// The io_uring Io (Linux 6.1 or later).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/ids.h"
#include "gyre/runtime/io.h"

namespace gyre::runtime {

struct UringOptions {
  std::uint32_t submission_entries = 2048;   // Power of two, at most 32768.
  std::uint32_t completion_entries = 16384;  // Power of two, above it and at most 65536.
  // Receive buffers, shared by all connections of the shard. The whole pool is the working set, so
  // it should fit the L2 cache. Power of two, at most 32768.
  std::uint32_t receive_buffers = 256;
  std::uint32_t receive_buffer_bytes = 4096;
};

// The rings of all shards, so that they can message each other. Made before the shard threads
// start; a slot is filled by its shard and read by others only after start (see app/server).
class UringSet;

// Must be called in the thread that will use the Io and destroy it, after pinning it. The error
// names the cause and the cure (kernel too old, sysctl, seccomp, limits). `set` outlives the Io,
// which enters its ring there. Destroying the Io ends all operations without calling a handler.
[[nodiscard]] absl::StatusOr<std::unique_ptr<Io>> make_uring_io(ShardId self, UringSet& set,
                                                                const UringOptions& options);

// Checks once, from any thread, that rings can be made here.
[[nodiscard]] absl::Status check_uring_available();

class UringSet {
 public:
  explicit UringSet(std::uint32_t shard_count);
  void set_ring_descriptor(ShardId shard, int descriptor);
  // -1 before the shard has its ring and after it gave it up. Whoever wants to wake a shard must
  // have seen it start (a happens-before edge); one that has ended needs no waking.
  [[nodiscard]] int ring_descriptor(ShardId shard) const;

 private:
  std::vector<std::atomic<int>> descriptors_;
};

}  // namespace gyre::runtime

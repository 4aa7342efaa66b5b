// `gyre reshard`: a new store with another number of shards and the same memory.
//
// Events that are alive come along; of the dead, what must go on refusing others: tombstones of
// deletion requests, requests to vanish, and versions of an address that no newer one has
// superseded. Everything else stays behind, so this is a complete compaction too.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/status/statusor.h"

namespace gyre::app {

struct ReshardOptions {
  std::string store_path;
  std::uint32_t shards = 0;
  std::string to;  // Must not exist, or be empty.
};

struct ReshardReport {
  std::uint64_t events = 0;      // Alive, in the new store.
  std::uint64_t remembered = 0;  // Dead ones that came along for what they refuse.
  std::uint64_t dropped = 0;     // Dead ones that did not.
  std::map<std::string, std::uint64_t>
      refused;  // Alive ones that the new store refused, by reason.
  double seconds = 0;
};

// The old store is not changed. The new one grows in a folder named like `to` with ".unfinished"
// behind it, and gets its name as the last step: what has that name is complete. After an
// interruption (kCancelled) the next call begins anew.
[[nodiscard]] absl::StatusOr<ReshardReport> run_reshard(const ReshardOptions& options);

}  // namespace gyre::app

// Filling a store with the load generator's mix, and what each event costs.
#pragma once

#include <cstdint>

#include "expectations.h"
#include "open_store.h"
#include "page_reserve.h"

namespace gyre::store_bench {

struct FillCost {
  double put_cpu_us = 0;         // For each event: what the shard's thread spends.
  double background_cpu_us = 0;  // For each event: log writer, checkpoints and merges.
  std::uint64_t json_bytes = 0;
  double worst_turn_ms = 0;  // CPU time of the longest turn: 64 puts and what work() does.
  double busy_share = 0;     // Of wall time: waiting for room.
};

// What files take in memory for each event, those of merges on their way included.
inline constexpr std::uint64_t kFileBytesPerEvent = 1100;

// Puts `count` events, drawing kFileBytesPerEvent from the reserve for each, and lets the
// background finish; memory is the caller's to measure.
[[nodiscard]] FillCost fill(OpenStore& store, std::uint64_t count, Expectations& expectations,
                            PageReserve& reserve);
// The author whom the mix mentions most.
[[nodiscard]] Bytes32 busy_author(std::uint64_t count);

}  // namespace gyre::store_bench

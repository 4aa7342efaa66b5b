// What is measured of one size, each stage in a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gyre/storage/event_log.h"

namespace gyre::store_bench {

using Figures = std::vector<std::pair<std::string, double>>;

struct Plan {
  std::string folder;  // Made and removed.
  std::uint64_t events = 0;
  storage::Durability durability = storage::Durability::kInterval;
  double verification_us = 0;  // V
};

// Fills, probes and is killed; starts after that, closes; starts after that.
[[nodiscard]] Figures measure(const Plan& plan);

}  // namespace gyre::store_bench

// What is measured of one size, each stage in a process of its own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gyre/storage/event_log.h"

namespace gyre::store_bench {

using Figures = std::vector<std::pair<std::string, double>>;

// Whether the memory that the store's files will take is fetched before (page_reserve.h).
enum class Reserve : std::uint8_t { kNo, kYes };

struct Plan {
  std::string folder;  // Made and removed.
  std::uint64_t events = 0;
  storage::Durability durability = storage::Durability::kInterval;
  Reserve reserve = Reserve::kYes;
  double verification_us = 0;  // V
};

// Fills, probes and is killed; starts after that, closes; starts after that.
[[nodiscard]] Figures measure(const Plan& plan);

}  // namespace gyre::store_bench

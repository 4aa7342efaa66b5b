// Probes: single operations on a warm store, each answer checked.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "expectations.h"
#include "open_store.h"

namespace gyre::store_bench {

struct Probe {
  std::string name;
  double median_us = 0;
};

// Ends the program if an answer is wrong.
[[nodiscard]] std::vector<Probe> probe(OpenStore& store, const Expectations& expectations);

}  // namespace gyre::store_bench

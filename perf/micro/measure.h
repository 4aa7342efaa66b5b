// Timing one row: the work is done once before, so that its objects have grown, and everything it
// allocates while it is timed is counted.
#pragma once

#include <benchmark/benchmark.h>

#include <stdexcept>

#include "support/allocation_counter.h"

namespace gyre::perf {

// Ends the program: a figure for a wrong answer is worth nothing.
inline void require(bool is_right, const char* what) {
  if (!is_right) throw std::runtime_error(what);
}

template <typename Work>
void measure(benchmark::State& state, Work work) {
  work();
  const test::Allocations before = test::allocations();
  for ([[maybe_unused]] const auto step : state) {
    work();
    benchmark::ClobberMemory();
  }
  const test::Allocations after = test::allocations();
  const auto count = static_cast<double>(state.iterations());
  state.counters["allocations"] = static_cast<double>(after.count - before.count) / count;
  state.counters["bytes"] = static_cast<double>(after.bytes - before.bytes) / count;
}

}  // namespace gyre::perf

// Counts what the whole program allocates, so that a test can say "nothing". Linking it replaces
// the global operator new.
#pragma once

#include <cstdint>

namespace gyre::test {

struct Allocations {
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;
};

// Since the program began, in all threads.
[[nodiscard]] Allocations allocations();

// What `work()` allocates.
template <typename Work>
[[nodiscard]] Allocations allocations_of(Work work) {
  const Allocations before = allocations();
  work();
  const Allocations after = allocations();
  return {after.count - before.count, after.bytes - before.bytes};
}

}  // namespace gyre::test

// EarlyChanges: rows whose file is ahead of the manifest.
//
// What the log says of a row reaches the directory's file once it is durable in the log, and the
// manifest and the runs with the checkpoint. A crash in between leaves rows that have changed by
// records behind the manifest's position, while the runs are as before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gyre/storage/directory.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

struct EarlyChanges {
  // Ascending; mostly none. Those alive when the manifest was written,
  std::vector<Sequence> deaths;
  // and those dead then, but not superseded by a newer version.
  std::vector<Sequence> supersedings;

  [[nodiscard]] bool is_empty() const { return deaths.empty() && supersedings.empty(); }
  [[nodiscard]] bool has(Sequence sequence) const {
    return std::ranges::binary_search(deaths, sequence) ||
           std::ranges::binary_search(supersedings, sequence);
  }
  // RowFlags when the manifest was written, of a row that has `flags` now.
  [[nodiscard]] std::uint16_t flags_before(Sequence sequence, std::uint16_t flags) const {
    constexpr std::uint16_t kByDeath = kRowDead | kRowSuperseded;
    if (std::ranges::binary_search(deaths, sequence)) {
      return static_cast<std::uint16_t>(flags & ~kByDeath);
    }
    if (std::ranges::binary_search(supersedings, sequence)) {
      return static_cast<std::uint16_t>(flags & ~kRowSuperseded);
    }
    return flags;
  }
};

}  // namespace gyre::storage

// Filter: one NIP-01 filter, compiled. Immutable after parsing; one matcher serves stored queries,
// live subscriptions and COUNT, so they cannot disagree.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/packed_event.h"

namespace gyre::nostr {

struct TagCondition {
  char letter = 0;
  std::vector<std::string> values;  // Canonically escaped, sorted, unique, not empty.
};

struct Filter {
  // Every list is sorted and without repeats. An absent member leaves its list empty; a member that
  // was present and empty makes the whole filter `matches_nothing` (nips.md 01-F12).
  std::vector<Bytes32> ids;
  std::vector<Bytes32> authors;
  std::vector<std::uint16_t> kinds;
  std::vector<TagCondition> tags;                                 // One for each letter, ANDed.
  std::int64_t since = std::numeric_limits<std::int64_t>::min();  // Inclusive.
  std::int64_t until = std::numeric_limits<std::int64_t>::max();  // Inclusive.
  std::optional<std::uint64_t> limit;  // As asked; clamping is the relay's. Never part of matching.
  bool matches_nothing = false;        // Also when since > until.

  [[nodiscard]] bool has_ids() const { return !ids.empty(); }
  [[nodiscard]] bool has_authors() const { return !authors.empty(); }
  [[nodiscard]] bool has_kinds() const { return !kinds.empty(); }

  // Does not look at `limit`, expiry or access rights.
  [[nodiscard]] bool matches(PackedEventView event) const;
};

}  // namespace gyre::nostr

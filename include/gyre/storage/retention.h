// RetentionPolicy: how long events stay, by the operator's choice.
//
// Deletion and vanish requests stay for ever whatever it says: what they deleted must not come
// back.
#pragma once

#include <cstdint>
#include <vector>

namespace gyre::storage {

struct RetentionPolicy {
  struct KindAge {
    std::uint16_t first;
    std::uint16_t last;       // The same for one kind.
    std::uint64_t max_age_s;  // 0: for ever.
    friend bool operator==(const KindAge&, const KindAge&) = default;
  };

  std::uint64_t max_age_s = 0;  // By created_at; 0: for ever.
  std::vector<KindAge> kinds;   // In place of max_age_s; the first entry that has a kind counts.
  // Of one shard's log and runs. Above it the events with the lowest created_at go; 0: no limit.
  // The directory's 32 bytes for each event ever stored are not counted, for they never go.
  std::uint64_t max_bytes = 0;

  friend bool operator==(const RetentionPolicy&, const RetentionPolicy&) = default;
  [[nodiscard]] bool is_empty() const { return max_age_s == 0 && max_bytes == 0 && kinds.empty(); }
  // Of events of this kind; 0: no age is too high.
  [[nodiscard]] std::uint64_t max_age_of(std::uint16_t kind) const;
  [[nodiscard]] static bool is_exempt(std::uint16_t kind);
};

}  // namespace gyre::storage

// NaiveStore: a store that cannot be wrong because it does nothing clever: a list of events, and
// Filter::matches on each of them. The twin that queries are compared with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gyre/nostr/filter.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/storage/format.h"
#include "gyre/storage/query.h"

namespace gyre::test {

class NaiveStore {
 public:
  storage::Sequence add(std::vector<std::uint8_t> packed_event);
  void mark_dead(storage::Sequence sequence) { events_[sequence].is_dead = true; }

  [[nodiscard]] storage::Sequence next_sequence() const {
    return static_cast<storage::Sequence>(events_.size());
  }
  [[nodiscard]] nostr::PackedEventView event(storage::Sequence sequence) const {
    return nostr::PackedEventView(events_[sequence].packed.data());
  }
  [[nodiscard]] bool is_dead(storage::Sequence sequence) const { return events_[sequence].is_dead; }

  // What a Scan over the events before `snapshot` has to yield, in order.
  [[nodiscard]] std::vector<storage::Sequence> query(std::span<const nostr::Filter> filters,
                                                     const storage::ScanLimits& limits,
                                                     const storage::ReadAccess& access,
                                                     std::int64_t now_s,
                                                     storage::Sequence snapshot) const;

 private:
  struct StoredEvent {
    std::vector<std::uint8_t> packed;
    bool is_dead = false;
  };
  [[nodiscard]] bool is_served(storage::Sequence sequence, const storage::ReadAccess& access,
                               std::int64_t now_s) const;
  // Newest first, ties by lowest id.
  void sort(std::vector<storage::Sequence>& sequences) const;

  std::vector<StoredEvent> events_;
};

}  // namespace gyre::test

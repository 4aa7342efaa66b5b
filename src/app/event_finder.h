// EventFinder: the events of one shard that match any of some filters, in the order in which they
// were stored. Reads the directory from one end to the other and each event that its row does not
// rule out; so it costs the same however unselective the filters are, and finds dead events too.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gyre/nostr/filter.h"
#include "gyre/storage/query.h"
#include "gyre/storage/term.h"

namespace gyre::app {

enum class StoredOrder : std::uint8_t { kOldestStoredFirst, kNewestStoredFirst };
enum class DeadEvents : std::uint8_t { kLeftOut, kIncluded };

class EventFinder {
 public:
  struct Found {
    storage::Sequence sequence = 0;
    storage::DirectoryRow row{};
    nostr::PackedEventView event;  // Until the next step.
  };
  // All arguments outlive it. The filters' own limits count, each for itself.
  EventFinder(const storage::QuerySources& sources, std::span<const nostr::Filter> filters,
              StoredOrder order, DeadEvents dead);

  enum class Step : std::uint8_t { kFound, kPaused, kFinished };
  // kPaused now and then, so that the caller can show progress and be interrupted.
  [[nodiscard]] Step next(Found& found);
  // Events that could not be read; each has been reported, and left out.
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  struct Wanted {
    const nostr::Filter* filter;
    std::vector<std::uint32_t> author_hashes;  // Sorted.
    std::uint64_t left;                        // Of its limit.
  };
  [[nodiscard]] bool is_there(const storage::DirectoryRow& row) const;
  [[nodiscard]] bool may_match(const storage::DirectoryRow& row) const;
  [[nodiscard]] bool take_match(nostr::PackedEventView event);

  const storage::QuerySources& sources_;
  std::vector<Wanted> wanted_;
  const StoredOrder order_;
  const DeadEvents dead_;
  const storage::Sequence end_;
  storage::Sequence done_ = 0;  // Rows that have been looked at.
  std::uint64_t damaged_ = 0;
};

}  // namespace gyre::app

// PlainRelay: what a relay has to keep and to answer by NIP-01, NIP-09 and NIP-45, as a list of
// events that is looked at from end to end.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "differential/plain_event.h"
#include "differential/plain_filter.h"

namespace gyre::test {

class PlainRelay {
 public:
  using Index = std::uint32_t;  // Into the events.

  explicit PlainRelay(const std::vector<PlainEvent>& events) : events_(events) {}

  // Events come in their order. True if this one is taken (and goes to subscribers).
  bool take(Index index);

  // Newest first, ties by lowest id; each filter stops at its own limit.
  [[nodiscard]] std::vector<Index> stored(std::span<const PlainFilter> filters) const;
  // All that match; limits have no say.
  [[nodiscard]] std::uint64_t count(std::span<const PlainFilter> filters) const;
  // What EOSE may say behind stored(filters) (NIP-67): empty only where a filter was cut and what
  // it left out may have come by way of another, or was not wanted at all (limit 0).
  [[nodiscard]] bool may_hint(std::span<const PlainFilter> filters, const std::string& hint) const;
  [[nodiscard]] std::size_t alive_count() const { return alive_.size(); }

 private:
  [[nodiscard]] bool is_newer(Index left, Index right) const;
  [[nodiscard]] bool is_deleted(const PlainEvent& event) const;
  void replace_older(Index index);
  void obey_deletion(const PlainEvent& request);

  const std::vector<PlainEvent>& events_;
  std::vector<Index> alive_;  // Newest first.
  std::vector<Index> requests_;
  std::vector<Index> versions_;  // Of addresses, dead or alive.
};

}  // namespace gyre::test

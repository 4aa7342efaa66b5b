#include "app/event_finder.h"

#include <algorithm>

namespace gyre::app {
namespace {

using nostr::Filter;
using nostr::PackedEventView;
using storage::DirectoryRow;
using storage::Sequence;

constexpr Sequence kRowsPerStep = 65'536;

bool may_match(const Filter& filter, const std::vector<std::uint32_t>& author_hashes,
               const DirectoryRow& row) {
  if (filter.matches_nothing) return false;
  // Times of events are below 2^63.
  const auto created_at = static_cast<std::int64_t>(row.created_at);
  if (created_at < filter.since || created_at > filter.until) return false;
  if (filter.has_kinds() && !std::ranges::binary_search(filter.kinds, row.kind)) return false;
  return author_hashes.empty() || std::ranges::binary_search(author_hashes, row.author_hash);
}

}  // namespace

EventFinder::EventFinder(const storage::QuerySources& sources, std::span<const Filter> filters,
                         StoredOrder order, DeadEvents dead)
    : sources_(sources), order_(order), dead_(dead), end_(sources.directory.next_sequence()) {
  for (const Filter& filter : filters) {
    Wanted wanted{&filter, {}, filter.limit.value_or(UINT64_MAX)};
    for (const Bytes32& author : filter.authors) {
      wanted.author_hashes.push_back(static_cast<std::uint32_t>(sources.hasher.author(author)));
    }
    std::ranges::sort(wanted.author_hashes);
    wanted_.push_back(std::move(wanted));
  }
}

EventFinder::Step EventFinder::next(Found& found) {
  const auto has_room = [](const Wanted& wanted) { return wanted.left > 0; };
  if (std::ranges::none_of(wanted_, has_room)) return Step::kFinished;
  for (Sequence budget = kRowsPerStep; done_ < end_; --budget) {
    if (budget == 0) return Step::kPaused;
    const Sequence sequence = order_ == StoredOrder::kOldestStoredFirst ? done_ : end_ - 1 - done_;
    ++done_;
    const DirectoryRow row = sources_.directory.row(sequence);
    const bool is_dead = (row.flags & storage::kRowDead) != 0;
    // Rows of no event, and events whose record compaction has dropped, have nothing to show.
    if (is_dead && (dead_ == DeadEvents::kLeftOut || !is_there(row))) continue;
    if (!may_match(row)) continue;
    const PackedEventView event = storage::read_event(sources_, row);
    if (event.is_null()) {
      ++damaged_;
      continue;
    }
    if (!take_match(event)) continue;
    found = {sequence, row, event};
    return Step::kFound;
  }
  return Step::kFinished;
}

bool EventFinder::is_there(const DirectoryRow& row) const {
  return storage::is_row_of_event(row) && sources_.log.has_record(row.position);
}

bool EventFinder::may_match(const DirectoryRow& row) const {
  return std::ranges::any_of(wanted_, [&row](const Wanted& wanted) {
    return wanted.left > 0 && app::may_match(*wanted.filter, wanted.author_hashes, row);
  });
}

// An event counts for each filter that it matches.
bool EventFinder::take_match(PackedEventView event) {
  bool has_matched = false;
  for (Wanted& wanted : wanted_) {
    if (wanted.left == 0 || !wanted.filter->matches(event)) continue;
    --wanted.left;
    has_matched = true;
  }
  return has_matched;
}

}  // namespace gyre::app

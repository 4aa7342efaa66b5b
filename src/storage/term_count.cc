#include "storage/term_count.h"

#include <algorithm>

#include "storage/planner.h"

namespace gyre::storage {
namespace {

using Driver = FilterTerms::Driver;

// Each costs some microseconds, and a count is done in one go.
constexpr std::uint64_t kTermsMax = 64;

// The terms of which every event that matches stands under exactly one, and no other event under
// any: an event has one kind and one author.
std::optional<DriverOption> exact_terms(const nostr::Filter& filter) {
  if (filter.has_ids() || filter.tags.size() > 1) return std::nullopt;
  if (filter.tags.empty()) {
    if (filter.has_authors() && filter.has_kinds()) {
      return DriverOption(Driver::kAuthorKind, filter);
    }
    if (filter.has_authors()) return DriverOption(Driver::kAuthor, filter);
    if (filter.has_kinds()) return DriverOption(Driver::kKind, filter);
    return DriverOption(Driver::kAll, filter);
  }
  const nostr::TagCondition& tag = filter.tags.front();
  // An event may have two values of one letter.
  if (filter.has_authors() || tag.values.size() != 1) return std::nullopt;
  if (!filter.has_kinds()) return DriverOption(Driver::kTag, filter, &tag);
  if (!has_tag_kind_term(tag.letter)) return std::nullopt;
  return DriverOption(Driver::kTagKind, filter, &tag);
}

std::optional<std::uint64_t> count_matching(const nostr::Filter& filter,
                                            const CountSources& sources) {
  PostingRange range;
  if (filter.matches_nothing || !window_of(filter, range.since, range.until)) return 0;
  const std::optional<DriverOption> option = exact_terms(filter);
  if (!option || option->term_count() > kTermsMax) return std::nullopt;
  std::uint64_t count = 0;
  for (std::uint64_t i = 0; i < option->term_count(); ++i) {
    range.term = option->term(i, sources.hasher);
    count += count_alive(range, sources);
  }
  return count;
}

// The part of the filter that asks for restricted kinds; false if there is none.
bool take_restricted_part(const nostr::Filter& filter,
                          std::span<const std::uint16_t> restricted_kinds,
                          nostr::Filter& restricted) {
  if (restricted_kinds.empty()) return false;
  restricted = filter;
  if (!filter.has_kinds()) {
    restricted.kinds.assign(restricted_kinds.begin(), restricted_kinds.end());
    return true;
  }
  std::erase_if(restricted.kinds, [restricted_kinds](std::uint16_t kind) {
    return !std::binary_search(restricted_kinds.begin(), restricted_kinds.end(), kind);
  });
  return !restricted.kinds.empty();
}

}  // namespace

std::uint64_t count_alive(const PostingRange& range, const CountSources& sources) {
  const std::uint64_t all = sources.postings.count(range);
  const std::uint64_t dead = sources.dead_postings.count(range);
  return all - std::min(all, dead);
}

std::optional<std::uint64_t> count_by_terms(const nostr::Filter& filter,
                                            const CountSources& sources, const ReadAccess& access) {
  const std::optional<std::uint64_t> all = count_matching(filter, sources);
  nostr::Filter part;
  if (!all || *all == 0 || !take_restricted_part(filter, access.restricted_kinds(), part))
    return all;
  const std::optional<std::uint64_t> restricted = count_matching(part, sources);
  if (!restricted || *restricted == 0) return restricted ? all : std::nullopt;
  if (access.may_read_some_restricted()) return std::nullopt;
  return *all - *restricted;
}

}  // namespace gyre::storage

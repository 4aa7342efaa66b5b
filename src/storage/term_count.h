// Counting by the index alone: how many events match a filter that says no more than its terms do.
#pragma once

#include <cstdint>
#include <optional>

#include "gyre/nostr/filter.h"
#include "gyre/storage/posting_index.h"
#include "gyre/storage/query.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

struct CountSources {
  const PostingIndex& postings;
  const PostingIndex& dead_postings;
  const TermHasher& hasher;
};

// The events alive that match and that the reader may see, expired ones that are not swept
// included. Nothing if the index alone cannot say it: where the filter has ids, several tag
// conditions or values, or a combination that has no term; where it has so many terms that a scan
// can share its time better; where the reader may see some of the restricted events.
//
// A handful of postings may be wrong by collisions of 64-bit terms: with 10^9 terms, less than one
// in 10^9 counts.
[[nodiscard]] std::optional<std::uint64_t> count_by_terms(const nostr::Filter& filter,
                                                          const CountSources& sources,
                                                          const ReadAccess& access);

// Alive and in the range: two positions in each run.
[[nodiscard]] std::uint64_t count_alive(const PostingRange& range, const CountSources& sources);

}  // namespace gyre::storage

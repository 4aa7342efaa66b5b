// RetentionSweep: finds the events that a retention policy retires, in slices.
//
// Each lane of a sweep goes down the postings of one term from its cut-off: all events for the
// general age and for the size, the events of a kind for the age of that kind. What a lane has been
// through it does not look at again, unless an older event has come in since.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "gyre/storage/directory.h"
#include "gyre/storage/posting_index.h"
#include "gyre/storage/retention.h"
#include "gyre/storage/term.h"
#include "storage/term_count.h"

namespace gyre::storage {

class RetentionSweep {
 public:
  RetentionSweep(const PostingIndex& postings, const Directory& directory, const TermHasher& hasher)
      : postings_(postings), directory_(directory), hasher_(hasher) {}

  // Appends to `out` events that have to go by now; all of them alive, each once. Looks at up to
  // `budget` postings, and returns true if there are more to be looked at. Events that are not made
  // dead then are found again only by another policy.
  bool step(const RetentionPolicy& policy, std::int64_t now_s, std::size_t budget,
            std::vector<Sequence>& out);
  // If the events alive, which take `bytes` in all, exceed the policy's size, the next sweep takes
  // the oldest, down to a tenth below the limit, so that the next excess is some time off.
  void limit_size(const RetentionPolicy& policy, double bytes, std::uint64_t events_alive,
                  std::int64_t now_s, const CountSources& sources);
  // True between a sweep's beginning and its end.
  [[nodiscard]] bool is_under_way() const { return lane_.has_value(); }
  // An event has come in.
  void note_stored(std::uint64_t created_at) {
    lowest_stored_ = std::min(lowest_stored_, created_at);
  }

 private:
  // Lane 0 has all events, lane i the kinds of policy.kinds[i - 1].
  struct Lane {
    std::uint64_t end = 0;        // Events below it have to go.
    std::uint64_t swept_end = 0;  // Those below it have been looked at, in sweeps before this one.
  };
  void adopt(const RetentionPolicy& policy);
  void begin(std::int64_t now_s);
  void finish();
  bool sweep_term(Term term, std::size_t& budget, std::vector<Sequence>& out);
  bool sweep_lane(std::size_t& budget, std::vector<Sequence>& out);
  [[nodiscard]] bool has_to_go(const DirectoryRow& row) const;

  const PostingIndex& postings_;
  const Directory& directory_;
  const TermHasher& hasher_;

  RetentionPolicy policy_;  // Of the sweep under way, or the last one.
  std::uint64_t now_s_ = 0;
  std::vector<Lane> lanes_{1};
  std::optional<std::size_t> lane_;           // Under way.
  std::uint32_t kind_ = 0;                    // Of the lane, if that goes by kinds.
  std::optional<PostingPlace> place_;         // The last posting looked at of the term under way.
  std::uint64_t floor_ = 0;                   // Events below it go by size.
  std::uint64_t lowest_stored_ = UINT64_MAX;  // Since the beginning of the last sweep.
};

// What the index would take without dead postings and those that they cancel.
[[nodiscard]] double living_bytes_of_index(const PostingIndex& postings,
                                           const PostingIndex& dead_postings);

// The time until which `count` events are alive that may go by a policy; `now_s` if there are
// fewer. Found by halving: some forty counts of three terms.
[[nodiscard]] std::uint64_t time_of_oldest(std::uint64_t count, std::int64_t now_s,
                                           const CountSources& sources);

}  // namespace gyre::storage

// DeathQueue: posts what the dying were posted under as dead postings, soon after their death.
//
// Counts are exact once it is empty. A few deaths are worked off at once, since their events have
// just been read by the rules; many (a vanish, a sweep) in slices, for each costs reading its
// event. A checkpoint waits until all deaths that it would make durable are worked off: nothing
// else keeps the queue.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "gyre/storage/directory.h"
#include "gyre/storage/posting_index.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

class DeathQueue {
 public:
  DeathQueue(Directory& directory, PostingIndex& dead_postings, const TermHasher& hasher)
      : directory_(directory), dead_postings_(dead_postings), hasher_(hasher) {}

  // Gives the event at a position, null if it cannot be read; false while it is on its way.
  using ReadEvent = std::function<bool(LogPosition, nostr::PackedEventView&)>;

  // Requires: the row is marked dead, and was not before. (While the log is replayed the row may
  // say more than that, for its file can be ahead: what is posted goes by the cause.)
  void add(Sequence sequence, DeathCause cause) {
    items_.push_back({sequence, cause, std::nullopt});
  }
  // A version of `address` that is dead already, of another cause, has been followed by a newer one
  // after all. Marks its row, too: in the order of the queue, or its address would be posted twice.
  void add_superseded(Sequence sequence, Term address) {
    items_.push_back({sequence, DeathCause::kOther, address});
  }
  // Ends early where an event is still on its way, or cannot be read; it is tried again a few
  // times. Of one that never can its postings are left without partners, and a dead posting under
  // TermHasher::unburied() says so: counts by the index are exact no longer.
  void work(std::size_t budget, const ReadEvent& read);
  [[nodiscard]] bool is_empty() const { return items_.empty(); }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

 private:
  struct Item {
    Sequence sequence;
    DeathCause cause;
    std::optional<Term> superseded;  // The address, if that is all that has happened.
  };
  void post(const Item& item, const DirectoryRow& row, nostr::PackedEventView event);
  void post_superseded(Sequence sequence, Term address);
  [[nodiscard]] bool has_dead_posting(Term term, const DirectoryRow& row, Sequence sequence) const;

  Directory& directory_;
  PostingIndex& dead_postings_;
  const TermHasher& hasher_;
  std::deque<Item> items_;
  int failures_ = 0;  // Of reading the first.
  // Scratch.
  TermList terms_;
  std::vector<Posting> postings_;
};

}  // namespace gyre::storage

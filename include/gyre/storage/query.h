// Scan: a stored query over one shard's store, in slices.
//
// Several filters become one stream: newest first, ties by lowest id, every event once. Each filter
// stops at its own limit, so the stream is the union of what each filter alone would give.
//
// A scan sees the events that were stored when it began (sequence < snapshot) and are alive when it
// comes to them. It may be put aside between slices for as long as one likes; it holds no pointer
// into the index or the log across them.
//
// Events that are not in memory are read from the disk, many at once: the scan looks ahead and says
// kWaiting until the next one is there. Events that cannot be read are left out.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/base/clock.h"
#include "gyre/nostr/filter.h"
#include "gyre/storage/cold_reads.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/event_log.h"
#include "gyre/storage/posting_index.h"
#include "gyre/storage/result_limit.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

// What a query reads from; all of one shard.
struct QuerySources {
  const PostingIndex& postings;
  const Directory& directory;
  const EventLog& log;
  const TermHasher& hasher;
  ColdReads* reads = nullptr;  // Null: wait for the disk, as tools may.
};

// Reads the packed event of a row through the mapping. The view lives until the end of the turn; it
// is null, which has been reported, if the record is damaged.
// Requires of shards: the record is resident.
[[nodiscard]] nostr::PackedEventView read_event(const QuerySources& sources,
                                                const DirectoryRow& row);

// Says no to events that the reader may not see (NIP-42 gating).
class ReadAccess {
 public:
  virtual ~ReadAccess() = default;
  [[nodiscard]] virtual bool may_read(nostr::PackedEventView event) const = 0;
  // For counts, which look at no event: may_read() is true of all events but, possibly, those of
  // these kinds (sorted) ...
  [[nodiscard]] virtual std::span<const std::uint16_t> restricted_kinds() const = 0;
  // ... and false of all of those unless this is true.
  [[nodiscard]] virtual bool may_read_some_restricted() const = 0;
};

struct ScanLimits {
  // Whether the scan also yields the first event beyond a limit, so that whoever asks learns that
  // there is more (NIP-67).
  enum class Beyond : std::uint8_t { kNone, kOne };

  std::vector<ResultLimit> filter_limits;  // One for each filter.
  ResultLimit total_limit;
  Beyond beyond = Beyond::kNone;
};

// What a scan has read so far.
struct ScanStatistics {
  std::uint64_t terms = 0;       // Opened, again after a change of the index.
  std::uint64_t postings = 0;    // Walked over.
  std::uint64_t candidates = 0;  // Events that came up, each once however many postings it has.
  std::uint64_t rows = 0;        // Of the directory.
  std::uint64_t records = 0;     // Of the log.
  std::uint64_t bytes = 0;       // Of the events in these records.
};

class Scan {
 public:
  // Reads under way for one scan.
  static constexpr std::size_t kReadsAheadMax = 32;

  // `filters`, `access` and `waiter` outlive the scan. `now_s`: events whose expiration is <= now
  // are left out. `waiter` is told when kWaiting has ended; needed where sources.reads is given.
  Scan(const QuerySources& sources, std::span<const nostr::Filter> filters, ScanLimits limits,
       const ReadAccess& access, std::int64_t now_s, ColdReads::Waiter* waiter = nullptr);
  Scan(Scan&&) noexcept;
  Scan& operator=(Scan&&) noexcept;
  ~Scan();

  enum class Step : std::uint8_t { kEvent, kPaused, kWaiting, kFinished };
  // Finds the next event: its sequence and view (until the next call, at most to the end of the
  // turn). kPaused after `work_budget` candidates have been looked at without coming to an end; the
  // budget counts down. kWaiting: nothing to do before the waiter is called.
  [[nodiscard]] Step next(std::uint64_t& work_budget, Sequence& sequence,
                          nostr::PackedEventView& event);

  // Gives back all memory of reads, for a scan that will not go on soon. What was read ahead is
  // read again.
  void release_reads();

  [[nodiscard]] const ScanStatistics& statistics() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The driver terms a filter is looked up by: every event that matches stands under one of them.
struct FilterTerms {
  enum class Driver : std::uint8_t {
    kNothing,
    kIds,
    kTag,
    kTagKind,
    kAuthorKind,
    kAuthor,
    kKind,
    kAll
  };
  Driver driver = Driver::kNothing;
  std::vector<Term> terms;
};

// All choices that are worth a posting in the live index, the most selective first by what the
// filter says alone: by kind, or by nothing, only where it says no more. None if nothing can match.
[[nodiscard]] std::vector<FilterTerms> live_term_choices(const nostr::Filter& filter,
                                                         const TermHasher& hasher);

// How a filter is gone about, and what was expected of each way to do it.
struct FilterPlan {
  struct Option {
    FilterTerms::Driver driver;
    char tag_letter;         // Of kTag and kTagKind; else 0.
    std::uint64_t terms;     // Different ones to be opened.
    std::uint64_t postings;  // Estimated, in the filter's window of time.
    std::uint64_t cost;      // As many candidates could be looked at instead.
  };
  std::vector<Option> options;  // None if the filter can match nothing.
  std::size_t chosen = 0;       // Of `options`.
  // Walked first, for so many candidates, since that may be done sooner than opening the terms of
  // the chosen one.
  std::optional<std::size_t> trial;
  std::uint64_t trial_candidates = 0;
};
[[nodiscard]] FilterPlan explain_plan(const nostr::Filter& filter, const QuerySources& sources,
                                      std::uint64_t limit);

// The most selective choice by what the store holds.
[[nodiscard]] FilterTerms choose_stored_terms(const nostr::Filter& filter,
                                              const QuerySources& sources);

}  // namespace gyre::storage

// PostingIndex: the one secondary index. A posting says that an event stands under a term at a
// time.
//
// New postings go to an ordered table in memory. When it is full it is frozen and written by the
// checkpoint worker as a run: an immutable, sorted, checksummed file, mapped into memory
// (src/storage/posting_run.h). Every lookup sees the active table, the frozen one and all runs.
//
// Within a term, postings are ordered newest first, ties by lowest id: the order in which NIP-01
// wants events. In memory a posting carries id_prefix for that; in a run the order itself says it.
// Postings are never removed by marking: the directory knows who is dead.
//
// A shard has a second index of the same kind for *dead postings*: what was posted for events that
// have died since. The difference of both counts is exact without a look at any event, and merging
// runs with dead runs takes such pairs out of both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"
#include "gyre/storage/term.h"

namespace gyre::storage {

struct Posting {
  Term term;
  std::uint64_t created_at;  // For kExpiry the expiration.
  std::uint64_t id_prefix;
  Sequence sequence;
};

// A term in a window of time, both ends inclusive.
struct PostingRange {
  Term term = 0;
  std::uint64_t since = 0;
  std::uint64_t until = UINT64_MAX;
};

class PostingMerge;  // src/storage/posting_merge.h

// Walks one range newest first, over every table and run of the index. Valid until the index's set
// of runs and tables changes (see PostingIndex::version()): callers that pause seek again. add()
// does no harm; the walk may or may not come by what was added.
class PostingCursor {
 public:
  PostingCursor();
  PostingCursor(PostingCursor&&) noexcept;
  PostingCursor& operator=(PostingCursor&&) noexcept;
  ~PostingCursor();

  [[nodiscard]] bool is_at_end() const;
  // Requires: !is_at_end().
  [[nodiscard]] std::uint64_t created_at() const;
  [[nodiscard]] Sequence sequence() const;
  [[nodiscard]] std::uint64_t id_prefix() const;
  void advance();

 private:
  friend class PostingIndex;
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// A place in a range to continue from: strictly behind (created_at, id_prefix, sequence) in the
// order.
struct PostingPlace {
  std::uint64_t created_at;
  std::uint64_t id_prefix;
  Sequence sequence;
};

class PostingIndex {
 public:
  struct Options {
    // Then the table should be frozen. At 50 bytes each 50 MB, twice while a checkpoint is written,
    // and what a crash leaves to be replayed: half a second's work for a table.
    std::size_t table_postings_max = 1'000'000;
    // Merged at once. At some 50 ns each a tenth of a second: so long a checkpoint may have to wait
    // for the worker, while a flood fills a fortieth of a table.
    std::uint64_t merge_slice_postings = 2'000'000;
    // Runs of a table's size become one when there are so many: their fences are small and warm,
    // and merging eight at once writes half of what merging fours and fours of those would.
    std::size_t merged_tables = 8;
  };

  // Opens the runs that the manifest names. The directory lends id_prefix for run entries.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<PostingIndex>> open(
      FileSystem& files, std::string_view folder, const std::vector<std::string>& run_names,
      const Directory& directory, const Options& options);
  ~PostingIndex();

  void add(const Posting& posting);
  // The same, but faster than one by one: the cache misses of all of them overlap.
  void add(std::span<const Posting> postings);
  // Fetches what find() and find_newest() of this term will touch first: a store of many runs is
  // asked for several terms of one event, and most of them are nowhere.
  void prefetch_find(Term term) const;
  [[nodiscard]] bool wants_freeze() const;  // The active table is full.

  // Starts at the newest posting of the range, or behind `place`.
  [[nodiscard]] PostingCursor find(const PostingRange& range) const;
  [[nodiscard]] PostingCursor find_behind(const PostingRange& range,
                                          const PostingPlace& place) const;
  // The newest posting of the range, without a cursor's cost: for point lookups (id, address).
  [[nodiscard]] std::optional<PostingPlace> find_newest(const PostingRange& range) const;
  // Adds to `merge` a source for each table and run that has postings of the range, beginning at
  // the newest or behind `place` (null: at the newest). Many ranges may share one merge.
  void add_sources(const PostingRange& range, const PostingPlace* place, PostingMerge& merge) const;

  // How many postings the range has, dead events included. Two positions in each run, not a scan.
  [[nodiscard]] std::uint64_t count(const PostingRange& range) const;
  // The same, cheaper: exact for what is rare, to within two blocks of each run for what is not.
  [[nodiscard]] std::uint64_t estimate(const PostingRange& range) const;

  [[nodiscard]] const Options& options() const;
  // Changes whenever cursors become invalid.
  [[nodiscard]] std::uint64_t version() const;

  // Checkpointing, in step with Directory: freeze() makes the active table immutable (at most one
  // is frozen); write_run() writes it under `name` and maps the finished file (worker thread:
  // touches the frozen table and the new run only); install_run() lets the run take the table's
  // place.
  void freeze();
  [[nodiscard]] bool has_frozen() const;
  [[nodiscard]] std::uint64_t frozen_posting_count() const;
  [[nodiscard]] absl::Status write_run(std::string_view name);
  void install_run(std::string_view name);
  // Instead, where the frozen table is empty and gets no run.
  void drop_empty_frozen();

  // Merging, beside checkpoints: choose_merge() names runs that should become one (none: nothing to
  // do). When a RunMerger has written that one, take_merged_run() maps it (worker thread), and
  // install_merged_run() lets it take the place of its inputs, or nothing if its name is empty.
  // Their mappings, and with them their space on the disk, live until release_merged() (worker
  // thread); their files may be removed once the manifest without them is durable.
  [[nodiscard]] std::vector<std::string> choose_merge() const;
  [[nodiscard]] std::uint64_t posting_count_of(const std::vector<std::string>& runs) const;
  [[nodiscard]] absl::Status take_merged_run(std::string_view name);
  void install_merged_run(const std::vector<std::string>& inputs, std::string_view name);
  void release_merged();
  // Brings up to `budget` bytes of the runs into memory, to stay there; true when all of them are.
  // Runs that are written later see to that themselves. For the worker.
  [[nodiscard]] bool keep_resident(std::uint64_t budget, Residence& residence);

  [[nodiscard]] std::vector<std::string> run_names() const;
  [[nodiscard]] std::size_t run_count() const;

  [[nodiscard]] std::uint64_t table_posting_count() const;
  [[nodiscard]] std::uint64_t run_posting_count() const;
  [[nodiscard]] std::uint64_t bytes_on_disk() const;

 private:
  PostingIndex();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gyre::storage

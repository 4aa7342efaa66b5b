// Directory: one row for each event of a shard, by sequence, so that a filter can be checked before
// the log is touched.
//
// Rows below the last checkpoint stand in a file that is mapped read-only and written by the
// checkpoint worker alone; rows and deaths since then are in memory and come back by replay. So a
// death becomes part of the file only after the record that caused it is durable: a crash can never
// leave an event dead whose retiring record was lost.
//
// Rows are looked at in every query and for every new event, at random. The file should fit into
// memory beside the runs: 32 bytes for each event ever stored, 3.2 GB for 100 million. It is
// populated at start in the background and kept so. On a host too small for that a row may cost a
// page fault, which stops the shard for as long as the disk takes.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

struct DirectoryRow {
  LogPosition position;  // Of the event's record; see is_row_of_event().
  std::uint64_t created_at;
  std::uint64_t id_prefix;    // prefix64(id): breaks ties of created_at, lowest first.
  std::uint32_t author_hash;  // Low half of the author term: a cheap "surely not".
  std::uint16_t kind;
  std::uint16_t flags;  // RowFlags
};
static_assert(sizeof(DirectoryRow) == 32);

enum RowFlags : std::uint16_t {
  kRowDead = 1,        // Replaced, deleted, expired or vanished.
  kRowExpires = 2,     // Has an expiration: its event must be asked before it is served.
  kRowSuperseded = 4,  // Dead, and there has been a newer version of its address.
};

// Rows of foreign requests, address marks and gaps have been dead from their beginning and never
// counted as events; retire lists of the log may name them all the same. They are known by a bit
// that no position has, since records stand at multiples of 8.
inline constexpr std::uint64_t kNoEventBit = 1;
[[nodiscard]] inline bool is_row_of_event(const DirectoryRow& row) {
  return (row.position.value & kNoEventBit) == 0;
}

// A superseded event leaves its address to the version that took its place, so nothing of it needs
// to be remembered. Any other dead version goes on refusing older ones (nips.md 09-10, 40-06).
enum class DeathCause : std::uint8_t { kSuperseded, kOther };

// What a checkpoint writes: rows and deaths up to a point. Immutable; made by freeze().
struct DirectoryDelta {
  struct Death {
    Sequence sequence;
    std::uint16_t flags;  // The row's, with those of its death.
  };
  Sequence first = 0;              // Sequence of rows[0].
  std::vector<DirectoryRow> rows;  // With their deaths as of the freeze.
  std::vector<Death> deaths;       // Of rows below `first`, sorted.
};

class Directory {
 public:
  // Opens or creates `path` and believes its first `checkpointed_rows` rows (the manifest's
  // number).
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Directory>> open(FileSystem& files,
                                                                       std::string_view path,
                                                                       Sequence checkpointed_rows);
  ~Directory();

  [[nodiscard]] Sequence next_sequence() const;
  // Requires: sequence < next_sequence(). The flags are up to date.
  [[nodiscard]] DirectoryRow row(Sequence sequence) const;
  [[nodiscard]] bool is_dead(Sequence sequence) const;
  // Fetches what row() will touch.
  void prefetch(Sequence sequence) const;
  Sequence append(const DirectoryRow& row);  // Requires: next_sequence() < kSequenceMax.
  // Fine on a dead one: the first cause stands.
  void mark_dead(Sequence sequence, DeathCause cause);
  // A version that died otherwise has been followed by a newer one after all.
  // Requires: the row is dead.
  void mark_superseded(Sequence sequence);

  // Brings all rows of the file into memory, or as many as it can before `is_stopping` turns true;
  // for one other thread, which calls it again and again.
  void keep_in_memory(const std::atomic<bool>& is_stopping) const;

  // Checkpointing: freeze() moves everything in memory to a delta that stays readable through
  // row(); write() puts it into the file and syncs it (worker thread; touches nothing but the
  // file); and drop_frozen() ends its life in memory once the manifest that counts it is durable.
  // At most one delta is frozen at a time; the reference freeze() gives lives until drop_frozen().
  [[nodiscard]] const DirectoryDelta& freeze();
  [[nodiscard]] absl::Status write(const DirectoryDelta& delta);
  void drop_frozen();

  // Brings up to `budget` bytes of the file into memory, to stay there; true when all of it is.
  // Rows that are written later see to that themselves. For the worker.
  [[nodiscard]] bool keep_resident(std::uint64_t budget, Residence& residence);

  // For the worker between checkpoints: a row of the file, deaths since the last write not in it.
  // Requires: `sequence` was in a delta that drop_frozen() has seen off.
  [[nodiscard]] DirectoryRow checkpointed_row(Sequence sequence) const;

 private:
  Directory();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gyre::storage

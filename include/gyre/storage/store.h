// Store: one shard's partition, as decisions: may this event come in, what does it make dead, what
// is answered. Owns log, directory, postings and checkpoints of the shard.
//
// Everything about one author is decided here, on one core, in order of arrival. An accepted event
// is visible to queries from put() on; it may be acknowledged when `position` is covered by
// acknowledged().
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/storage/data_directory.h"
#include "gyre/storage/event_log.h"
#include "gyre/storage/query.h"
#include "gyre/storage/retention.h"
#include "gyre/storage/shard_contents.h"

namespace gyre::storage {

struct CompactionOptions {
  // Segments of the log with a greater share of dead bytes are compacted; 1: none is.
  double dead_share = 0.4;
  // And only if that gives back so many bytes; of less, a file system with blocks sees nothing.
  std::uint64_t gain_bytes_min = 4096;
  // Of a segment at once: a fifth of a second or so, for which a checkpoint may have to wait.
  std::uint64_t slice_bytes = 16ull << 20;
};

struct StoreOptions {
  LogOptions log;
  PostingIndex::Options postings;
  CompactionOptions compaction;
};

// Why an event does or does not come in.
enum class Verdict : std::uint8_t {
  kAccept,
  kDuplicate,  // The same id is stored.
  kStale,      // A newer version of its address is stored, or one as old with a lower id.
  kDeleted,    // Its author (or a gift wrap's recipient) asked for its deletion.
  kVanished,   // Its author (or a gift wrap's recipient) vanished at or after its created_at.
  kExpired,    // Its expiration has come.
  kDiskFull,   // No space; nothing is changed.
  kBusy,       // No room in the log's tail or the index just now; try again in a later turn.
  kTooLarge,   // More than a segment of the log can hold.
  kReading,    // A record that decides is being read from the disk; put() again in a later turn.
};

struct StoreStatistics {
  std::uint64_t events_alive = 0;
  std::uint64_t events_total = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t index_bytes = 0;
  std::uint64_t postings = 0;
  std::uint64_t runs = 0;
  std::uint64_t cold_reads = 0;       // Records read from the disk since the start.
  std::uint64_t damaged_records = 0;  // As LogDamage.
  std::uint64_t failed_reads = 0;
  std::uint64_t dead_postings = 0;   // Of events that have died; merges take them out of both.
  std::uint64_t deaths_pending = 0;  // Events whose dead postings are still to come.
  std::uint64_t table_postings = 0;  // Of `postings`, those in memory; about 50 bytes each.
  // Since the start.
  std::uint64_t checkpoints = 0;
  std::uint64_t failed_checkpoints = 0;
  std::uint64_t merges = 0;
  std::uint64_t failed_merges = 0;
  std::uint64_t merged_postings = 0;     // Written by merges.
  std::uint64_t compactions = 0;         // Segments compacted since the start.
  std::uint64_t failed_compactions = 0;  // Since the start; each was or will be tried again.
  std::uint64_t compacted_bytes = 0;     // Given back since the start.
  std::uint64_t dead_bytes = 0;          // Of the log, as of the last survey.
};

class Store {
 public:
  // Opens shard `shard` of `data` and recovers it. `data`, `files`, `clock` outlive the store.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<Store>> open(
      FileSystem& files, const DataDirectory& data, ShardId shard, const StoreOptions& options,
      const Clock& clock, Random& random);
  ~Store();

  // Reads of records that are not in memory. Whoever gives it a reader lets every read come to its
  // end before the reader goes.
  [[nodiscard]] ColdReads& cold_reads();
  // LogOptions::resident_bytes, once it is known what the index takes; before start_threads().
  void set_resident_bytes(std::uint64_t bytes);

  // What put() would answer, without looking at the signature; before that is verified. kReading:
  // put() will see.
  [[nodiscard]] Verdict check(nostr::PackedEventView event) const;

  struct PutResult {
    Verdict verdict;
    Sequence sequence;     // kAccept: the event's.
    LogPosition position;  // kAccept: acknowledge when covered.
  };
  // Decides again and stores. Requires: id and signature verified; the kind is not ephemeral.
  [[nodiscard]] PutResult put(nostr::PackedEventView event);

  // Effects here of a deletion or vanish request whose author lives in another shard (gift wraps to
  // the author). Nothing to do gives the current acknowledged position. kDiskFull and kBusy as put.
  [[nodiscard]] PutResult apply_foreign_request(nostr::PackedEventView request);
  // True for requests that other shards must hear of.
  [[nodiscard]] static bool has_foreign_effects(nostr::PackedEventView event);

  // Makes events dead whose expiration has come; looks at up to `budget` of those that had one.
  // True if more are due.
  bool sweep_expired(std::size_t budget);

  // Makes these events dead, by one record, as the relay's operator. kAccept, or kDiskFull and
  // kBusy as put(), and nothing is changed. Requires: each is alive, is named once, and at most
  // some thousands are named.
  [[nodiscard]] Verdict retire_by_operator(std::span<const Sequence> sequences);

  // How many events the filter matches that `access` lets see and that have not expired at `now_s`,
  // in some microseconds; nothing if that needs a Scan. Its limit means nothing here (NIP-45).
  [[nodiscard]] std::optional<std::uint64_t> count(const nostr::Filter& filter,
                                                   const ReadAccess& access,
                                                   std::int64_t now_s) const;
  [[nodiscard]] std::uint64_t events_alive() const;

  // Makes events dead that the policy lets go, oldest first; looks at up to `budget` postings. True
  // if there are more to be looked at now. To be called again and again, for time goes on.
  bool apply_retention(const RetentionPolicy& policy, std::size_t budget);

  // Remembers a version of an address that is not here, so that older ones are refused; for stores
  // that are made of others. kAccept, kDiskFull or kBusy. Requires: the term is of this store's
  // key, and no version that is as new is stored.
  [[nodiscard]] Verdict remember_address(const AddressMark& mark);

  // The end of the log, and how much of it may be acknowledged.
  [[nodiscard]] LogPosition appended() const;
  [[nodiscard]] LogPosition acknowledged() const;
  [[nodiscard]] QuerySources sources() const;
  [[nodiscard]] const TermHasher& hasher() const;

  // Once a turn: takes completions of writer and checkpoints, hands over the next commit. True if
  // acknowledged() moved.
  //
  // kMayWait, while the caller knows that more is about to be put: a commit begins at most every
  // 4 ms then, since each costs the same however much it makes durable. kNow: as soon as the
  // writer is idle.
  enum class CommitPace : std::uint8_t { kNow, kMayWait };
  bool work(CommitPace pace = CommitPace::kNow);

  // As EventLog: threads of its own that call `on_progress`, or by hand.
  void start_threads(std::function<void()> on_progress);
  bool run_background_once();
  // True while writer or checkpoints are under way: on_progress will be called, and work() will
  // have something to take. Whoever was told kBusy while it is false may try again at once.
  [[nodiscard]] bool is_working() const;

  // The log found no space for more at its last attempt.
  [[nodiscard]] bool is_disk_full() const;

  // Gives back all the space that can be given back, over many turns, for tools that have the store
  // to themselves: ends the segment that is appended to, writes a checkpoint, and compacts whatever
  // has something dead, threshold or not. A failure ends it (StoreStatistics).
  void start_compacting_all();
  [[nodiscard]] bool is_compacting_all() const;

  [[nodiscard]] StoreStatistics statistics() const;
  [[nodiscard]] const LogRecovery& recovery() const;

  // Commits, syncs, checkpoints and ends the threads. Blocks; for shutdown.
  [[nodiscard]] absl::Status close();

 private:
  Store();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The shard that owns an event's author.
[[nodiscard]] ShardId owner_shard(const Bytes32& pubkey, const std::array<std::uint8_t, 16>& key,
                                  std::uint32_t shard_count);

}  // namespace gyre::storage

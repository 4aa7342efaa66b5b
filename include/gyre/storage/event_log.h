// EventLog: the append-only file set that is the truth about what a shard has stored.
//
// One EventLog belongs to one shard and is touched by no other thread; its LogWriter does the
// blocking work. Records are written in arrival order and never rewritten; all else is derived from
// them.
//
// Three positions describe how far a record has travelled. At every turn of the loop
//
//     durable <= written <= appended
//
// where `appended` covers bytes copied into the tail, `written` bytes the kernel has accepted, and
// `durable` bytes covered by a completed fdatasync. Positions are those of the byte after the
// record.
//
// Space is reserved (fallocate) before it is appended to, so a full disk is noticed before a record
// is accepted: has_room() turns false, and true again when space returns.
//
// The bytes: src/storage/FORMAT.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/base/bytes.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/storage/file.h"
#include "gyre/storage/format.h"
#include "gyre/storage/manifest.h"

namespace gyre::storage {

class LogSegment;

enum class Durability : std::uint8_t {
  kFsync,     // Acknowledge what is durable. Survives power loss.
  kInterval,  // Acknowledge what is written; sync every second. Survives the process, not the host.
  kOs,        // Acknowledge what is written; never sync but at shutdown and checkpoints.
};

struct LogOptions {
  std::uint64_t segment_bytes =
      128 * 1024 * 1024;  // A segment is sealed before it would exceed this.
  std::uint64_t reserve_bytes = 8 * 1024 * 1024;  // Reserved ahead of the end, in steps of this.
  // Appended and not yet written; then no room. A single record may exceed it.
  std::uint64_t tail_bytes_max = 16 * 1024 * 1024;
  Durability durability = Durability::kFsync;
  // As much of the log's end is kept in memory and read through the mapping (is_resident).
  std::uint64_t resident_bytes = std::numeric_limits<std::uint64_t>::max();
  // Whose log it is. Segments that say otherwise are refused.
  ShardIdentity owner = {};
};

// Clock of a process that runs in real time.
[[nodiscard]] const Clock& kernel_clock();

// Reads the payload of a record that was replayed before.
class ReplayedRecords {
 public:
  virtual ~ReplayedRecords() = default;
  [[nodiscard]] virtual ByteSpan read(LogPosition position) const = 0;
};

struct LogRecord {
  RecordType type;
  LogPosition position;  // Of the record; what read() takes.
  LogPosition end;       // Of the byte after it, unless compaction has shortened it.
  // What open() takes to replay from this record on; zero within a compacted segment, which is
  // replayed as a whole.
  LogPosition start;
  std::uint64_t number;  // Counts records of the log from 0; a gap takes as many as it stands for.
  ByteSpan payload;
  const ReplayedRecords* earlier = nullptr;  // While the log is opened; else null.
};

// Where a record's bytes lie, for who reads them from the file.
struct RecordPlace {
  std::shared_ptr<const File> file;
  std::uint64_t offset = 0;
  std::uint64_t bytes_max = 0;                // What the file has from there on.
  std::uint32_t seed = 0;                     // Of the record's checksum.
  std::optional<std::uint32_t> named_offset;  // Which the record must say of itself (check_record).
};

// What was found to be wrong with the log's files while they were read.
struct LogDamage {
  std::uint64_t records = 0;       // Damaged places that were met, each once.
  std::uint64_t failed_reads = 0;  // Reads that the disk refused.
};

struct LogRecovery {
  std::uint64_t records = 0;
  std::uint64_t torn_bytes = 0;  // Cut from the end.
};

class EventLog {
 public:
  // Opens or creates the log in `directory` and replays every record at or after `from` (position
  // and number of the next record, as a checkpoint noted them; zero and zero: everything). `replay`
  // sees records in order and may refuse one (a status ends the opening).
  //
  // A torn tail is cut and reported. An invalid record with valid ones behind it refuses to open,
  // with a message that names the file, the offset and the cure.
  //
  // `files`, `clock` and `random` outlive the log. The clock times the syncs of kInterval and the
  // retries on a full disk.
  struct Start {
    LogPosition position;
    std::uint64_t number = 0;
  };
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<EventLog>> open(
      FileSystem& files, std::string_view directory, const LogOptions& options, Random& random,
      Start from, const std::function<absl::Status(const LogRecord&)>& replay,
      LogRecovery& recovery, const Clock& clock = kernel_clock());
  // Without close(): like a crash of the process, nothing more is written.
  ~EventLog();

  // The largest payload that a record can have: of the options' segment, and 16 MiB at most.
  [[nodiscard]] std::uint64_t payload_bytes_max() const;
  // False while the tail is full of unwritten bytes, or while the disk has no space for more (see
  // is_disk_full), and for what exceeds payload_bytes_max(). `payload_bytes` as for append. Room
  // for so many bytes is room for fewer.
  [[nodiscard]] bool has_room(std::uint64_t payload_bytes) const;
  // The last attempt to reserve space failed; retried by the writer about once a second.
  [[nodiscard]] bool is_disk_full() const;

  // Copies the parts, one after the other, as one record's payload into the tail. Readable at once.
  // Requires: has_room(sum of the parts).
  LogPosition append(RecordType type, std::span<const ByteSpan> parts);

  // The payload of the record at `position`; lives until the end of the shard's turn.
  // Requires: a position that append or replay gave.
  [[nodiscard]] ByteSpan read(LogPosition position) const;
  // False if compaction has dropped the record that was there.
  [[nodiscard]] bool has_record(LogPosition position) const;

  // The same, checked by its checksum. Nothing, and a line in the operator's log, if it is damaged.
  // Cheap enough for every read: of events of 700 bytes one costs 20 to 65 ns more in the log's
  // order, and none in random order, where the checksum's even pace brings the bytes in from memory
  // that the reader needs next. A query spends 440 ns on an event (one core of an AMD EPYC).
  [[nodiscard]] std::optional<ByteSpan> read_checked(LogPosition position) const;

  // Fetches what read() will touch, for who will come to it soon: first the beginning of a record,
  // which tells how long it is, and some 100 ns later all of it. Requires: it is resident.
  void prefetch_head(LogPosition position) const;
  void prefetch(LogPosition position) const;

  // True if the record lies in the part of the log that is kept in memory. What does not is read by
  // ColdReads where nobody may wait for a page fault.
  [[nodiscard]] bool is_resident(LogPosition position) const;
  // Requires: !is_resident(position).
  [[nodiscard]] RecordPlace locate(LogPosition position) const;
  // Changes LogOptions::resident_bytes; before keep_in_memory() is called from another thread.
  void set_resident_bytes(std::uint64_t bytes);
  // From now on nothing older counts as resident but what keep_in_memory() has brought in. That is
  // called again and again by one other thread; it returns when all is in memory, the disk refuses,
  // or `is_stopping` turns true.
  void expect_keeper();
  void keep_in_memory(const std::atomic<bool>& is_stopping);

  // Names file, offset and cure in the operator's log, once for each damaged record and once for
  // each segment that cannot be read.
  void report_damage(LogPosition position) const;
  void report_unreadable(LogPosition position, int error) const;
  [[nodiscard]] const LogDamage& damage() const;

  [[nodiscard]] LogPosition appended() const;
  [[nodiscard]] LogPosition written() const;
  [[nodiscard]] LogPosition durable() const;
  // What may be acknowledged under the durability chosen: durable() or written().
  [[nodiscard]] LogPosition acknowledged() const;
  [[nodiscard]] std::uint64_t next_number() const;
  [[nodiscard]] std::uint64_t bytes_on_disk() const;

  // For compaction (segment_compactor.h): the segments up to number `last`, from the first on. All
  // but the last of the log are sealed. Each lives until it is replaced.
  // Requires: last <= appended().segment().
  [[nodiscard]] std::vector<const LogSegment*> segments_up_to(std::uint32_t last) const;
  // Ends the segment that is appended to, so that it is sealed with the next commit; nothing if it
  // has no records. False while there is no next one: after the turns that take_completions() needs
  // to get it, or when the disk is full.
  [[nodiscard]] bool end_segment();
  // Lets a compacted segment take the place of the one with its number, which is given back: what
  // read() has lent of it is in use until the end of the turn.
  [[nodiscard]] std::unique_ptr<LogSegment> replace_segment(std::unique_ptr<LogSegment> compacted);

  // Hands everything appended to the writer if it is idle. Once a turn, and once a second while
  // there are none: it is what times syncs and retries. Does not block.
  void start_commit();
  // Takes what the writer has done; true if written() or durable() moved. A failed write or sync
  // ends the process here with a message: what the kernel dropped cannot be acknowledged later.
  bool take_completions();
  // Makes durable() catch up with appended(), whatever the durability, without waiting.
  void request_sync();
  // True while the writer works, or has finished work that take_completions has not seen.
  [[nodiscard]] bool is_commit_in_flight() const;

  // Runs the writer: either in a thread of its own that calls `on_progress` (from that thread)
  // whenever take_completions has something, or, for simulations, by hand.
  void start_writer_thread(std::function<void()> on_progress);
  // Does one thing that a waiting writer would; false if there was nothing. Requires: no thread.
  bool run_writer_once();

  // Commits and syncs everything, ends the writer and gives back the space reserved. Blocks; for
  // shutdown. After it the log can only be read.
  [[nodiscard]] absl::Status close();

 private:
  EventLog();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gyre::storage

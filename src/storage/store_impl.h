// Store::Impl: the parts of one shard's store, and what they do together. The store's own header;
// its functions are in store.cc (decisions, deaths, turns) and store_open.cc (opening and replay).
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "gyre/storage/store.h"
#include "storage/checkpoint_task.h"
#include "storage/compaction_task.h"
#include "storage/death_queue.h"
#include "storage/expiry_sweep.h"
#include "storage/full_compaction.h"
#include "storage/maintenance.h"
#include "storage/memory_keeper.h"
#include "storage/merge_task.h"
#include "storage/record.h"
#include "storage/record_fetch.h"
#include "storage/record_rows.h"
#include "storage/residence_task.h"
#include "storage/retention_sweep.h"
#include "storage/shard_manifest.h"

namespace gyre::storage {

// Sequences that one record makes dead: 1 MiB, and at most a quarter of what a record can hold. A
// vanish request may concern millions of events.
inline constexpr std::uint64_t kRetiredPerRecordMax = 256 * 1024;
inline constexpr std::uint64_t kRetiredShare = 4 * sizeof(Sequence);

struct Store::Impl {
  Impl(FileSystem& files_in, const DataDirectory& data, ShardId shard,
       const StoreOptions& options_in, const Clock& clock_in)
      : files(files_in),
        folder(data.shard_path(shard)),
        options(options_in),
        clock(clock_in),
        hasher(data.key()),
        manifest(files_in, folder, shard_identity(data.key(), shard)) {
    options.log.owner = shard_identity(data.key(), shard);
  }

  absl::Status open(Random& random);
  absl::Status open_index();
  absl::Status forget_index();
  absl::Status open_postings(const std::vector<std::string>& runs,
                             std::unique_ptr<PostingIndex>& opened) const;
  void checkpoint_while_replaying(const LogRecord& record);
  absl::Status replay(const LogRecord& record);
  absl::Status replay_event(const LogRecord& record);
  absl::Status replay_retire(const LogRecord& record);
  absl::Status replay_deaths(const LogRecord& record, std::vector<Sequence>& retired_now,
                             DeathCause cause);
  absl::Status replay_gap(const LogRecord& record);
  absl::Status replay_address_mark(const LogRecord& record);

  // `retired_now`: what the event has just made dead.
  Sequence index_event(nostr::PackedEventView event, LogPosition position,
                       std::span<const Sequence> retired_now);
  Sequence index_foreign_request(nostr::PackedEventView request, LogPosition position);
  void index_address_mark(const AddressMarkRecord& mark, LogPosition position);
  void note_newer_version(Term address, std::span<const Sequence> retired_now);
  void post_terms(std::uint64_t created_at, std::uint64_t id_prefix, Sequence sequence);
  void retire(std::span<const Sequence> sequences, DeathCause cause);
  [[nodiscard]] std::optional<Verdict> retire_by_records(RetireReason reason,
                                                         std::size_t count_max);
  void retire_by_record(RetireReason reason, const std::vector<Sequence>& sequences);
  [[nodiscard]] std::size_t retired_per_record_max() const {
    return std::min(kRetiredPerRecordMax, log->payload_bytes_max() / kRetiredShare);
  }
  void watch_size(const RetentionPolicy& policy);
  [[nodiscard]] std::uint64_t index_bytes() const {
    return postings->bytes_on_disk() + dead_postings->bytes_on_disk();
  }
  PutResult append_event(RecordType type, nostr::PackedEventView event);
  [[nodiscard]] std::optional<Verdict> why_no_room(std::uint64_t payload_bytes) const;

  void start_commit(CommitPace pace);
  void freeze_if_full();
  void work_off_deaths(std::size_t budget);
  [[nodiscard]] bool is_table_full() const {
    return postings->wants_freeze() || dead_postings->wants_freeze();
  }
  [[nodiscard]] std::uint64_t table_posting_count() const {
    return postings->table_posting_count() + dead_postings->table_posting_count();
  }
  [[nodiscard]] bool freeze();
  [[nodiscard]] EventLog::Start end_of_log() const { return {log->appended(), log->next_number()}; }
  [[nodiscard]] absl::Status close();
  [[nodiscard]] absl::Status checkpoint_at_close();

  [[nodiscard]] QuerySources sources() const {
    return {*postings, *directory, *log, hasher, reads.get()};
  }
  [[nodiscard]] Verdict check(nostr::PackedEventView event, RecordFetch* tie_record) const;

  FileSystem& files;
  std::string folder;
  StoreOptions options;
  const Clock& clock;
  TermHasher hasher;
  std::unique_ptr<Directory> directory;
  std::unique_ptr<PostingIndex> postings;
  std::unique_ptr<PostingIndex> dead_postings;
  std::unique_ptr<DeathQueue> deaths;
  std::unique_ptr<ExpirySweep> expiry_sweep;
  std::unique_ptr<RetentionSweep> retention_sweep;
  std::unique_ptr<EventLog> log;
  std::unique_ptr<ColdReads> reads;
  RecordFetch tie;    // Of the event that put() was asked about last.
  RecordFetch dying;  // Of the next event whose dead postings are to be made.
  LogRecovery recovery;
  // Checkpoints completed when a record was replayed whose death the directory's file had already.
  std::optional<std::uint64_t> directory_ahead_at;
  ShardManifest manifest;
  std::uint64_t events_alive = 0;

  std::uint64_t commit_started_ns = 0;
  // Scratch, so that storing allocates nothing in the steady state.
  std::vector<Sequence> retired;
  std::vector<Sequence> swept;
  EventRecordHead record_head;
  TermList terms;
  std::vector<Posting> new_postings;

  std::unique_ptr<CheckpointTask> checkpoint;
  std::unique_ptr<ResidenceTask> residence;
  std::unique_ptr<MergeTask> merge;
  std::unique_ptr<CompactionTask> compaction;
  std::unique_ptr<FullCompaction> full_compaction;
  // Last: their threads use what stands above.
  std::unique_ptr<Maintenance> maintenance;
  MemoryKeeper keeper;
};

}  // namespace gyre::storage

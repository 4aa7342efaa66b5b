// Opening a store: its files, and what the log has that they do not.

#include <utility>

#include "absl/strings/str_cat.h"
#include "gyre/base/log.h"
#include "storage/corruption.h"
#include "storage/log_format.h"
#include "storage/store_impl.h"

namespace gyre::storage {
namespace {

using nostr::PackedEventView;

// Rows in memory while a log is replayed; gaps make rows without postings.
constexpr Sequence kReplayedRowsMax = 2'000'000;
// Checkpoints between two words about a long recovery: some seconds' worth.
constexpr std::uint64_t kCheckpointsPerReport = 10;

absl::Status unknown_record_type(const LogRecord& record) {
  return absl::DataLossError(absl::StrCat("record ", record.number, " has the unknown type ",
                                          static_cast<int>(record.type),
                                          "; it was written by a newer gyre"));
}

absl::Status malformed(const LogRecord& record) {
  return absl::DataLossError(
      absl::StrCat("record ", record.number, " is malformed; ", kSalvageCure));
}

}  // namespace

absl::StatusOr<std::unique_ptr<Store>> Store::open(FileSystem& files, const DataDirectory& data,
                                                   ShardId shard, const StoreOptions& options,
                                                   const Clock& clock, Random& random) {
  std::unique_ptr<Store> store(new Store());
  store->impl_ = std::make_unique<Impl>(files, data, shard, options, clock);
  if (absl::Status status = store->impl_->open(random); !status.ok()) return status;
  return store;
}

absl::Status Store::Impl::open(Random& random) {
  if (absl::Status status = files.create_directories(folder); !status.ok()) return status;
  absl::Status index_status = open_index();
  if (is_older_derived_version(index_status)) {
    GYRE_LOG(kWarning,
             "%s: its index is of an older gyre and is made again from the log, which takes some "
             "seconds for each million events",
             folder.c_str());
    index_status = forget_index();
    if (index_status.ok()) index_status = open_index();
  }
  if (!index_status.ok()) return index_status;

  const Manifest& found = manifest.durable();
  events_alive = found.events_alive;
  auto opened_log = EventLog::open(
      files, folder, options.log, random, {found.log_position, found.log_record_number},
      [this](const LogRecord& record) { return replay(record); }, recovery, clock);
  if (!opened_log.ok()) return opened_log.status();
  log = *std::move(opened_log);
  reads = std::make_unique<ColdReads>(*log);
  checkpoint->note_durable(log->durable());
  compaction = std::make_unique<CompactionTask>(manifest, *directory, *log, *checkpoint, hasher,
                                                random, clock, options.compaction);
  full_compaction =
      std::make_unique<FullCompaction>(*log, *checkpoint, *compaction, [this] { return freeze(); });
  if (directory_ahead_at) compaction->wait_for_checkpoint_after(*directory_ahead_at);
  maintenance = std::make_unique<Maintenance>(std::vector<BackgroundTask*>{
      checkpoint.get(), residence.get(), merge.get(), compaction.get()});
  return absl::OkStatus();
}

// Manifest, directory and runs.
absl::Status Store::Impl::open_index() {
  if (absl::Status status = manifest.load(); !status.ok()) return status;
  const Manifest& found = manifest.durable();
  auto opened_directory =
      Directory::open(files, absl::StrCat(folder, "/directory"), found.directory_rows);
  if (!opened_directory.ok()) return opened_directory.status();
  directory = *std::move(opened_directory);

  absl::Status status = open_postings(found.runs, postings);
  if (status.ok()) status = open_postings(found.dead_runs, dead_postings);
  if (!status.ok()) return status;
  deaths = std::make_unique<DeathQueue>(*directory, *dead_postings, hasher);
  expiry_sweep = std::make_unique<ExpirySweep>(*postings, *directory, hasher.expiry());
  retention_sweep = std::make_unique<RetentionSweep>(*postings, *directory, hasher);
  checkpoint =
      std::make_unique<CheckpointTask>(manifest, *directory, *postings, *dead_postings, clock);
  residence = std::make_unique<ResidenceTask>(folder, *directory, *postings, *dead_postings);
  merge = std::make_unique<MergeTask>(manifest, *directory, *postings, *dead_postings, clock);
  return absl::OkStatus();
}

absl::Status Store::Impl::open_postings(const std::vector<std::string>& runs,
                                        std::unique_ptr<PostingIndex>& opened) const {
  auto index = PostingIndex::open(files, folder, runs, *directory, options.postings);
  if (!index.ok()) return index.status();
  opened = *std::move(index);
  return absl::OkStatus();
}

absl::Status Store::Impl::forget_index() {
  postings.reset();
  dead_postings.reset();
  directory.reset();
  return manifest.forget();
}

// What a long log fills tables with is written as it comes, so that making the whole index again
// takes no more memory than running: up to the record that comes, which is replayed after that.
// Whatever was read is durable.
void Store::Impl::checkpoint_while_replaying(const LogRecord& record) {
  if (record.start.value == 0 || checkpoint->is_under_way()) return;
  const Sequence rows = directory->next_sequence() - manifest.durable().directory_rows;
  if (!is_table_full() && rows < kReplayedRowsMax) return;
  const auto read = [&record](LogPosition at, PackedEventView& event) {
    event = event_of_record(record.earlier->read(at));
    return true;
  };
  while (!deaths->is_empty()) deaths->work(deaths->size(), read);
  checkpoint->note_durable(record.start);
  checkpoint->freeze({record.start, record.number}, events_alive);
  // A failure is no reason not to start: what could not be written stays in memory for now.
  if (!checkpoint->write_now().ok()) return;
  if (checkpoint->completed_count() % kCheckpointsPerReport != 0) return;
  GYRE_LOG(kInfo, "%s: %u events of the log are indexed", folder.c_str(),
           directory->next_sequence());
}

absl::Status Store::Impl::replay(const LogRecord& record) {
  checkpoint_while_replaying(record);
  switch (record.type) {
    case RecordType::kEvent:
    case RecordType::kForeignRequest: return replay_event(record);
    case RecordType::kRetire: return replay_retire(record);
    case RecordType::kGap: return replay_gap(record);
    case RecordType::kAddressMark: return replay_address_mark(record);
  }
  return unknown_record_type(record);
}

absl::Status Store::Impl::replay_event(const LogRecord& record) {
  auto decoded = decode_event_record(record.payload);
  if (!decoded) return malformed(record);
  const DeathCause cause = death_cause_of(decoded->event);
  if (absl::Status status = replay_deaths(record, decoded->retired, cause); !status.ok()) {
    return status;
  }
  if (record.type == RecordType::kEvent) {
    index_event(decoded->event, record.position, decoded->retired);
  } else {
    index_foreign_request(decoded->event, record.position);
  }
  return absl::OkStatus();
}

absl::Status Store::Impl::replay_retire(const LogRecord& record) {
  auto decoded = decode_retire_record(record.payload);
  if (!decoded) return malformed(record);
  const DeathCause cause =
      decoded->reason == RetireReason::kSuperseded ? DeathCause::kSuperseded : DeathCause::kOther;
  return replay_deaths(record, decoded->retired, cause);
}

// Sequences whose records compaction has dropped never became events here, so they do not die.
absl::Status Store::Impl::replay_deaths(const LogRecord& record, std::vector<Sequence>& retired_now,
                                        DeathCause cause) {
  for (const Sequence sequence : retired_now) {
    if (sequence >= directory->next_sequence()) {
      return absl::DataLossError(absl::StrCat("record ", record.number, " retires event ", sequence,
                                              ", which does not exist; ", kSalvageCure));
    }
  }
  std::erase_if(retired_now, [this](Sequence sequence) {
    const DirectoryRow row = directory->row(sequence);
    const bool is_dead = (row.flags & kRowDead) != 0;
    if (is_dead && is_row_of_event(row)) directory_ahead_at = checkpoint->completed_count();
    return !is_row_of_event(row);
  });
  retire(retired_now, cause);
  return absl::OkStatus();
}

absl::Status Store::Impl::replay_gap(const LogRecord& record) {
  const LogGap gap = decode_gap(record.payload.data());
  if (gap.rows > kSequenceMax - directory->next_sequence()) return malformed(record);
  const DirectoryRow row = row_of_no_event(record.position);
  for (std::uint32_t i = 0; i < gap.rows; ++i) directory->append(row);
  return absl::OkStatus();
}

// The address goes on refusing versions that are older than the one that died (nips.md 09-10).
absl::Status Store::Impl::replay_address_mark(const LogRecord& record) {
  auto mark = decode_address_mark(record.payload);
  if (!mark) return malformed(record);
  absl::Status status = replay_deaths(record, mark->retired, DeathCause::kSuperseded);
  if (!status.ok()) return status;
  index_address_mark(*mark, record.position);
  return absl::OkStatus();
}

}  // namespace gyre::storage

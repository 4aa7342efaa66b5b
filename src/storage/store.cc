#include "gyre/storage/store.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gyre/base/assert.h"
#include "gyre/base/log.h"
#include "gyre/nostr/kind.h"
#include "storage/author_rules.h"
#include "storage/checkpoint_task.h"
#include "storage/corruption.h"
#include "storage/death_queue.h"
#include "storage/maintenance.h"
#include "storage/memory_keeper.h"
#include "storage/merge_task.h"
#include "storage/record.h"
#include "storage/record_fetch.h"
#include "storage/residence_task.h"
#include "storage/shard_manifest.h"
#include "storage/siphash.h"
#include "storage/term_count.h"

namespace gyre::storage {
namespace {

using nostr::PackedEventView;

// Postings that may pile up while a checkpoint cannot be written, in tables' worth; then the store
// refuses writes as it does when the log finds no space.
constexpr std::uint64_t kTablesMax = 4;
// Between commits while more is coming (Store::CommitPace): far below what a flood's events wait
// for their signatures, and a tenth of the commits.
constexpr std::uint64_t kCommitIntervalNs = 4'000'000;
// At close, a checkpoint is written if the table holds at least this share of its maximum.
constexpr std::uint64_t kCloseShare = 10;
// Sequences that one record makes dead: 1 MiB, and at most a quarter of what a record can hold. A
// vanish request may concern millions of events.
constexpr std::uint64_t kRetiredPerRecordMax = 256 * 1024;
constexpr std::uint64_t kRetiredShare = 4 * sizeof(Sequence);

// Deaths worked off at once (those of one event's rules, mostly), and in a later turn: each costs
// reading an event and posting ten terms, about 3 us.
constexpr std::size_t kDeathsAtOnce = 8;
constexpr std::size_t kDeathsPerTurn = 128;
// Beyond, requests that may cause more deaths wait: their postings fill memory before a checkpoint
// may take them away.
constexpr std::size_t kDeathsPendingMax = 64 * 1024;

// Checkpoints between two words about a long recovery: some seconds' worth.
constexpr std::uint64_t kCheckpointsPerReport = 10;

RetireReason reason_of(PackedEventView request) {
  return request.kind() == nostr::kKindVanish ? RetireReason::kVanished : RetireReason::kDeleted;
}

// Why an event makes others dead.
DeathCause death_cause_of(PackedEventView event) {
  switch (nostr::kind_class(event.kind())) {
    case nostr::KindClass::kReplaceable:
    case nostr::KindClass::kAddressable: return DeathCause::kSuperseded;
    case nostr::KindClass::kRegular:
    case nostr::KindClass::kEphemeral: break;
  }
  return DeathCause::kOther;
}

absl::Status unknown_record_type(const LogRecord& record) {
  return absl::DataLossError(absl::StrCat("record ", record.number, " has the unknown type ",
                                          static_cast<int>(record.type),
                                          "; it was written by a newer gyre"));
}

}  // namespace

struct Store::Impl {
  Impl(FileSystem& files_in, const DataDirectory& data, ShardId shard,
       const StoreOptions& options_in, const Clock& clock_in)
      : files(files_in),
        folder(data.shard_path(shard)),
        options(options_in),
        clock(clock_in),
        hasher(data.key()),
        manifest(files_in, folder, shard_identity(data.key(), shard)) {}

  absl::Status open(Random& random);
  absl::Status open_index();
  absl::Status forget_index();
  absl::Status open_postings(const std::vector<std::string>& runs,
                             std::unique_ptr<PostingIndex>& opened) const;
  void checkpoint_while_replaying(const LogRecord& record);
  absl::Status replay(const LogRecord& record);
  absl::Status replay_event(const LogRecord& record);
  absl::Status replay_retire(const LogRecord& record);

  Sequence index_event(PackedEventView event, LogPosition position);
  Sequence index_foreign_request(PackedEventView request, LogPosition position);
  void post_terms(std::uint64_t created_at, std::uint64_t id_prefix, Sequence sequence);
  void retire(std::span<const Sequence> sequences, DeathCause cause);
  [[nodiscard]] std::optional<Verdict> retire_by_records(RetireReason reason,
                                                         std::size_t count_max);
  PutResult append_event(RecordType type, PackedEventView event);
  [[nodiscard]] std::optional<Verdict> why_no_room(std::uint64_t payload_bytes) const;
  void note_expiration(std::int64_t expiration_s);

  void start_commit(CommitPace pace);
  void freeze_if_full();
  void work_off_deaths(std::size_t budget);
  [[nodiscard]] bool is_table_full() const {
    return postings->wants_freeze() || dead_postings->wants_freeze();
  }
  [[nodiscard]] std::uint64_t table_posting_count() const {
    return postings->table_posting_count() + dead_postings->table_posting_count();
  }
  [[nodiscard]] EventLog::Start end_of_log() const { return {log->appended(), log->next_number()}; }
  [[nodiscard]] absl::Status close();
  [[nodiscard]] absl::Status checkpoint_at_close();

  [[nodiscard]] QuerySources sources() const {
    return {*postings, *directory, *log, hasher, reads.get()};
  }
  [[nodiscard]] Verdict check(PackedEventView event, RecordFetch* tie_record) const;

  FileSystem& files;
  std::string folder;
  StoreOptions options;
  const Clock& clock;
  TermHasher hasher;
  std::unique_ptr<Directory> directory;
  std::unique_ptr<PostingIndex> postings;
  std::unique_ptr<PostingIndex> dead_postings;
  std::unique_ptr<DeathQueue> deaths;
  std::unique_ptr<EventLog> log;
  std::unique_ptr<ColdReads> reads;
  RecordFetch tie;    // Of the event that put() was asked about last.
  RecordFetch dying;  // Of the next event whose dead postings are to be made.
  LogRecovery recovery;
  ShardManifest manifest;
  std::uint64_t events_alive = 0;
  std::int64_t swept_until_s = 0;  // Expirations up to here have been made dead.
  // A sweep that ran out of its budget goes on behind this, up to sweep_until_s.
  std::optional<PostingPlace> sweep_place;
  std::int64_t sweep_until_s = 0;

  std::uint64_t commit_started_ns = 0;
  // Scratch, so that storing allocates nothing in the steady state.
  std::vector<Sequence> retired;
  EventRecordHead record_head;
  TermList terms;
  std::vector<Posting> new_postings;

  std::unique_ptr<CheckpointTask> checkpoint;
  std::unique_ptr<ResidenceTask> residence;
  std::unique_ptr<MergeTask> merge;
  // Last: their threads use what stands above.
  std::unique_ptr<Maintenance> maintenance;
  MemoryKeeper keeper;
};

Store::Store() = default;
Store::~Store() = default;

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
  maintenance = std::make_unique<Maintenance>(
      std::vector<BackgroundTask*>{checkpoint.get(), residence.get(), merge.get()});
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
// takes no more memory than running. Whatever was read is durable.
void Store::Impl::checkpoint_while_replaying(const LogRecord& record) {
  if (!is_table_full() || checkpoint->is_under_way()) return;
  const auto read = [&record](LogPosition at, PackedEventView& event) {
    event = event_of_record(record.earlier->read(at));
    return true;
  };
  while (!deaths->is_empty()) deaths->work(deaths->size(), read);
  checkpoint->freeze({record.end, record.number + 1}, events_alive);
  // A failure is no reason not to start: what could not be written stays in memory for now.
  if (!checkpoint->write_now().ok()) return;
  if (checkpoint->completed_count() % kCheckpointsPerReport != 0) return;
  GYRE_LOG(kInfo, "%s: %u events of the log are indexed", folder.c_str(),
           directory->next_sequence());
}

absl::Status Store::Impl::replay(const LogRecord& record) {
  checkpoint->note_durable(record.end);
  absl::Status status = unknown_record_type(record);
  switch (record.type) {
    case RecordType::kEvent:
    case RecordType::kForeignRequest: status = replay_event(record); break;
    case RecordType::kRetire: status = replay_retire(record); break;
  }
  if (status.ok()) checkpoint_while_replaying(record);
  return status;
}

absl::Status Store::Impl::replay_event(const LogRecord& record) {
  const auto decoded = decode_event_record(record.payload);
  if (!decoded) {
    return absl::DataLossError(absl::StrCat("record ", record.number,
                                            " holds no event; restore "
                                            "the store from a backup"));
  }
  for (const Sequence sequence : decoded->retired) {
    if (sequence >= directory->next_sequence()) {
      return absl::DataLossError(
          absl::StrCat("record ", record.number, " retires event ", sequence,
                       ", which does not exist; restore the store from a backup"));
    }
  }
  retire(decoded->retired, death_cause_of(decoded->event));
  if (record.type == RecordType::kEvent) {
    index_event(decoded->event, record.position);
  } else {
    index_foreign_request(decoded->event, record.position);
  }
  return absl::OkStatus();
}

absl::Status Store::Impl::replay_retire(const LogRecord& record) {
  const auto decoded = decode_retire_record(record.payload);
  if (!decoded) {
    return absl::DataLossError(absl::StrCat("record ", record.number,
                                            " is malformed; restore "
                                            "the store from a backup"));
  }
  for (const Sequence sequence : decoded->retired) {
    if (sequence >= directory->next_sequence()) {
      return absl::DataLossError(
          absl::StrCat("record ", record.number, " retires event ", sequence,
                       ", which does not exist; restore the store from a backup"));
    }
  }
  retire(decoded->retired, DeathCause::kOther);
  return absl::OkStatus();
}

// All of `terms`, and what is in `new_postings` already.
void Store::Impl::post_terms(std::uint64_t created_at, std::uint64_t id_prefix, Sequence sequence) {
  for (const Term term : terms) new_postings.push_back({term, created_at, id_prefix, sequence});
  postings->add(new_postings);
  new_postings.clear();
}

Sequence Store::Impl::index_event(PackedEventView event, LogPosition position) {
  const Bytes32 id = event.id();
  const Bytes32 pubkey = event.pubkey();
  const std::uint64_t id_prefix = prefix64(id.bytes.data());
  const std::uint64_t created_at = event.created_at();
  const auto expiration = event.expiration();

  DirectoryRow row{};
  row.position = position;
  row.created_at = created_at;
  row.id_prefix = id_prefix;
  row.author_hash = static_cast<std::uint32_t>(hasher.author(pubkey));
  row.kind = event.kind();
  row.flags = expiration.has_value() ? std::uint16_t{kRowExpires} : std::uint16_t{0};
  const Sequence sequence = directory->append(row);

  terms.clear();
  append_query_terms(hasher, event, terms);
  if (const auto address = address_of(event, pubkey)) {
    terms.push_back(hasher.address(address->kind, address->pubkey, address->d));
  }
  append_tombstones(hasher, event, terms);
  if (expiration) {
    new_postings.push_back({hasher.expiry(), *expiration, id_prefix, sequence});
    note_expiration(static_cast<std::int64_t>(*expiration));
  }
  post_terms(created_at, id_prefix, sequence);
  ++events_alive;
  return sequence;
}

// A foreign request takes a row, so that its tombstones have a sequence to stand under, but the row
// is dead from the start and no query term leads to it.
Sequence Store::Impl::index_foreign_request(PackedEventView request, LogPosition position) {
  const Bytes32 id = request.id();
  DirectoryRow row{};
  row.position = position;
  row.created_at = request.created_at();
  row.id_prefix = prefix64(id.bytes.data());
  row.kind = request.kind();
  row.flags = kRowDead;
  const Sequence sequence = directory->append(row);
  terms.clear();
  append_tombstones(hasher, request, terms);
  post_terms(row.created_at, row.id_prefix, sequence);
  return sequence;
}

// An event is made dead once, so each one counts. Not asked whether it is dead already: a crash
// between the directory's write and the manifest's leaves deaths in the file that are replayed.
void Store::Impl::retire(std::span<const Sequence> sequences, DeathCause cause) {
  for (const Sequence sequence : sequences) {
    directory->mark_dead(sequence, cause);
    deaths->add(sequence);
  }
  events_alive -= sequences.size();
  // While the log is opened it cannot be read; the first turns catch up.
  if (log != nullptr && deaths->size() <= kDeathsAtOnce) work_off_deaths(kDeathsAtOnce);
}

void Store::Impl::work_off_deaths(std::size_t budget) {
  if (deaths->is_empty()) return;
  deaths->work(budget, [this](LogPosition position, PackedEventView& event) {
    if (reads->is_cold(position)) return dying.fetch(*reads, *log, position, event);
    const auto payload = log->read_checked(position);
    event = payload ? event_of_record(*payload) : PackedEventView();
    return true;
  });
}

ColdReads& Store::cold_reads() { return *impl_->reads; }
void Store::set_resident_bytes(std::uint64_t bytes) { impl_->log->set_resident_bytes(bytes); }

Verdict Store::check(PackedEventView event) const { return impl_->check(event, nullptr); }

Verdict Store::Impl::check(PackedEventView event, RecordFetch* tie_record) const {
  const QuerySources from = sources();
  // NIP-40 leaves ephemeral events alone; a request to vanish does not.
  const bool is_ephemeral = nostr::kind_class(event.kind()) == nostr::KindClass::kEphemeral;
  if (is_ephemeral) return AuthorRules(from).check_ephemeral(event);
  const auto expiration = event.expiration();
  if (expiration && static_cast<std::int64_t>(*expiration) <= clock.unix_s()) {
    return Verdict::kExpired;
  }
  return AuthorRules(from).check(event, tie_record);
}

std::optional<Verdict> Store::Impl::why_no_room(std::uint64_t payload_bytes) const {
  if (payload_bytes > log->payload_bytes_max()) return Verdict::kTooLarge;
  if (directory->next_sequence() >= kSequenceMax) return Verdict::kDiskFull;
  if (table_posting_count() > kTablesMax * options.postings.table_postings_max) {
    return checkpoint->has_failed() ? Verdict::kDiskFull : Verdict::kBusy;
  }
  if (log->has_room(payload_bytes)) return std::nullopt;
  return log->is_disk_full() ? Verdict::kDiskFull : Verdict::kBusy;
}

// Makes all but the first `count_max` of `retired` dead by records of their own, so that the
// event's own record has room for the rest. A crash in between leaves a request half done that was
// not acknowledged; its author sends it again.
std::optional<Verdict> Store::Impl::retire_by_records(RetireReason reason, std::size_t count_max) {
  while (retired.size() > count_max) {
    const std::size_t count = std::min(retired.size() - count_max, count_max);
    const auto first = retired.end() - static_cast<std::ptrdiff_t>(count);
    const RetireRecord record{reason, {first, retired.end()}};
    const std::vector<std::uint8_t> payload = encode_retire_record(record);
    if (const auto verdict = why_no_room(payload.size())) return verdict;
    const ByteSpan part(payload);
    log->append(RecordType::kRetire, {&part, 1});
    retire(record.retired, DeathCause::kOther);
    retired.erase(first, retired.end());
  }
  return std::nullopt;
}

Store::PutResult Store::Impl::append_event(RecordType type, PackedEventView event) {
  const auto retired_max = static_cast<std::size_t>(
      std::min(kRetiredPerRecordMax, log->payload_bytes_max() / kRetiredShare));
  if (retired.size() > retired_max) {
    const std::uint64_t bytes = event.bytes().size() + retired_max * sizeof(Sequence);
    if (const auto verdict = why_no_room(bytes)) return {*verdict, 0, {}};
    if (const auto verdict = retire_by_records(reason_of(event), retired_max)) {
      return {*verdict, 0, {}};
    }
  }
  const auto parts = encode_event_record(retired, event, record_head);
  if (const auto verdict = why_no_room(parts[0].size() + parts[1].size())) {
    return {*verdict, 0, {}};
  }
  const LogPosition position = log->append(type, parts);
  retire(retired, death_cause_of(event));
  const Sequence sequence = type == RecordType::kEvent ? index_event(event, position)
                                                       : index_foreign_request(event, position);
  return {Verdict::kAccept, sequence, log->appended()};
}

Store::PutResult Store::put(PackedEventView event) {
  GYRE_ASSERT(nostr::kind_class(event.kind()) != nostr::KindClass::kEphemeral);
  const Verdict verdict = impl_->check(event, &impl_->tie);
  if (verdict != Verdict::kReading) impl_->tie.forget();
  if (verdict != Verdict::kAccept) return {verdict, 0, {}};
  if (impl_->deaths->size() > kDeathsPendingMax) return {Verdict::kBusy, 0, {}};
  impl_->retired.clear();
  const QuerySources sources = impl_->sources();
  AuthorRules(sources).collect_retired(event, impl_->retired);
  return impl_->append_event(RecordType::kEvent, event);
}

Store::PutResult Store::apply_foreign_request(PackedEventView request) {
  const QuerySources sources = impl_->sources();
  const AuthorRules rules(sources);
  if (impl_->deaths->size() > kDeathsPendingMax) return {Verdict::kBusy, 0, {}};
  impl_->retired.clear();
  rules.collect_foreign_retired(request, impl_->retired);
  if (impl_->retired.empty() && !rules.has_new_tombstones(request)) {
    return {Verdict::kAccept, 0, impl_->log->appended()};
  }
  return impl_->append_event(RecordType::kForeignRequest, request);
}

bool Store::has_foreign_effects(PackedEventView event) {
  if (event.kind() == nostr::kKindVanish) return true;
  if (event.kind() != nostr::kKindDeletion) return false;
  for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
    const nostr::TagEntry tag = event.tag(i);
    if (tag.letter() == 'e' && tag.has_value() && is_lower_hex(event.tag_value(tag), 64))
      return true;
  }
  return false;
}

// A clock that was set back lets events in whose expiration had been swept already.
void Store::Impl::note_expiration(std::int64_t expiration_s) {
  if (expiration_s > std::max(swept_until_s, sweep_until_s)) return;
  sweep_place.reset();
  swept_until_s = std::min(swept_until_s, expiration_s - 1);
  sweep_until_s = swept_until_s;
}

// Each posting is looked at once, also of those that died before their time, and over all slices.
bool Store::sweep_expired(std::size_t budget) {
  Impl& impl = *impl_;
  if (!impl.sweep_place) {
    const std::int64_t now_s = impl.clock.unix_s();
    if (now_s <= impl.swept_until_s) return false;
    impl.sweep_until_s = now_s;
  }
  const PostingRange range{impl.hasher.expiry(), static_cast<std::uint64_t>(impl.swept_until_s + 1),
                           static_cast<std::uint64_t>(impl.sweep_until_s)};
  RetireRecord record{RetireReason::kExpired, {}};
  std::optional<PostingPlace> last;
  PostingCursor cursor = impl.sweep_place ? impl.postings->find_behind(range, *impl.sweep_place)
                                          : impl.postings->find(range);
  for (; !cursor.is_at_end() && budget > 0; cursor.advance(), --budget) {
    const Sequence sequence = cursor.sequence();
    last = PostingPlace{cursor.created_at(), cursor.id_prefix(), sequence};
    if (!impl.directory->is_dead(sequence)) record.retired.push_back(sequence);
  }
  if (!record.retired.empty()) {
    const std::vector<std::uint8_t> payload = encode_retire_record(record);
    if (impl.why_no_room(payload.size())) return false;  // The next sweep tries again.
    const ByteSpan part(payload);
    impl.log->append(RecordType::kRetire, {&part, 1});
    impl.retire(record.retired, DeathCause::kOther);
  }
  if (!cursor.is_at_end()) {
    impl.sweep_place = last;
    return true;
  }
  impl.sweep_place.reset();
  impl.swept_until_s = impl.sweep_until_s;
  return false;
}

// Expired events that are not swept yet have no dead postings.
std::optional<std::uint64_t> Store::count(const nostr::Filter& filter, const ReadAccess& access,
                                          std::int64_t now_s) const {
  const Impl& impl = *impl_;
  if (!impl.deaths->is_empty()) return std::nullopt;
  if (impl.dead_postings->find_newest({impl.hasher.unburied()})) return std::nullopt;
  const CountSources sources{*impl.postings, *impl.dead_postings, impl.hasher};
  if (now_s > impl.swept_until_s) {
    const PostingRange unswept{impl.hasher.expiry(),
                               static_cast<std::uint64_t>(impl.swept_until_s + 1),
                               static_cast<std::uint64_t>(now_s)};
    if (count_alive(unswept, sources) > 0) return std::nullopt;
  }
  return count_by_terms(filter, sources, access);
}

std::uint64_t Store::events_alive() const { return impl_->events_alive; }
LogPosition Store::appended() const { return impl_->log->appended(); }
LogPosition Store::acknowledged() const { return impl_->log->acknowledged(); }
QuerySources Store::sources() const { return impl_->sources(); }
const TermHasher& Store::hasher() const { return impl_->hasher; }
const LogRecovery& Store::recovery() const { return impl_->recovery; }

bool Store::work(CommitPace pace) {
  const bool has_moved = impl_->log->take_completions();
  impl_->checkpoint->note_durable(impl_->log->durable());
  impl_->work_off_deaths(kDeathsPerTurn);
  impl_->freeze_if_full();
  impl_->maintenance->work();
  impl_->start_commit(pace);
  return has_moved;
}

void Store::Impl::start_commit(CommitPace pace) {
  const std::uint64_t now_ns = clock.monotonic_ns();
  if (pace == CommitPace::kMayWait && now_ns < commit_started_ns + kCommitIntervalNs) return;
  if (!log->is_commit_in_flight()) commit_started_ns = now_ns;
  log->start_commit();
}

void Store::Impl::freeze_if_full() {
  if (!is_table_full() || checkpoint->is_under_way() || !deaths->is_empty()) return;
  checkpoint->freeze(end_of_log(), events_alive);
  log->request_sync();
}

void Store::start_threads(std::function<void()> on_progress) {
  impl_->log->expect_keeper();
  impl_->keeper.start_thread(
      {[this](const std::atomic<bool>& is_stopping) {
         impl_->directory->keep_in_memory(is_stopping);
       },
       [this](const std::atomic<bool>& is_stopping) { impl_->log->keep_in_memory(is_stopping); }});
  impl_->log->start_writer_thread(on_progress);
  impl_->maintenance->start_thread(std::move(on_progress));
}

bool Store::is_working() const {
  return impl_->log->is_commit_in_flight() || impl_->maintenance->is_busy();
}

bool Store::run_background_once() {
  const bool wrote = impl_->log->run_writer_once();
  const bool worked = impl_->maintenance->run_once();
  return wrote || worked;
}

StoreStatistics Store::statistics() const {
  StoreStatistics statistics;
  statistics.events_alive = impl_->events_alive;
  statistics.events_total = impl_->directory->next_sequence();
  statistics.log_bytes = impl_->log->bytes_on_disk();
  statistics.index_bytes =
      impl_->postings->bytes_on_disk() + impl_->dead_postings->bytes_on_disk() +
      std::uint64_t{impl_->manifest.durable().directory_rows} * sizeof(DirectoryRow);
  statistics.postings =
      impl_->postings->table_posting_count() + impl_->postings->run_posting_count();
  statistics.runs = impl_->postings->run_count();
  statistics.dead_postings =
      impl_->dead_postings->table_posting_count() + impl_->dead_postings->run_posting_count();
  statistics.deaths_pending = impl_->deaths->size();
  statistics.table_postings = impl_->table_posting_count();
  statistics.checkpoints = impl_->checkpoint->completed_count();
  statistics.failed_checkpoints = impl_->checkpoint->failed_count();
  statistics.merges = impl_->merge->completed_count();
  statistics.failed_merges = impl_->merge->failed_count();
  statistics.merged_postings = impl_->merge->merged_postings();
  statistics.cold_reads = impl_->reads->read_count();
  statistics.damaged_records = impl_->log->damage().records;
  statistics.failed_reads = impl_->log->damage().failed_reads;
  return statistics;
}

absl::Status Store::close() { return impl_->close(); }

absl::Status Store::Impl::close() {
  keeper.stop_thread();
  maintenance->stop();
  merge->abandon();
  // Closing makes the log durable to its end, so a checkpoint may count all of it.
  if (absl::Status status = log->close(); !status.ok()) return status;
  dying.forget();
  tie.forget();
  reads->read_by(nullptr);  // From here on nobody minds to wait.
  while (!deaths->is_empty()) work_off_deaths(deaths->size());
  const absl::Status status = checkpoint_at_close();
  if (!status.ok()) {
    // All of it is in the log, and the next start will read more of that.
    GYRE_LOG(kWarning, "the last checkpoint of %s failed: %s", folder.c_str(),
             status.ToString().c_str());
  }
  return absl::OkStatus();
}

absl::Status Store::Impl::checkpoint_at_close() {
  if (checkpoint->is_under_way()) {
    if (absl::Status status = checkpoint->write_now(); !status.ok()) return status;
  }
  // A short tail replays in milliseconds; a run for each restart would cost every lookup.
  if (table_posting_count() < options.postings.table_postings_max / kCloseShare) {
    return absl::OkStatus();
  }
  checkpoint->freeze(end_of_log(), events_alive);
  return checkpoint->write_now();
}

ShardId owner_shard(const Bytes32& pubkey, const std::array<std::uint8_t, 16>& key,
                    std::uint32_t shard_count) {
  // Keyed, so that nobody can aim all authors of an attack at one shard.
  std::uint64_t words[2];
  std::memcpy(words, key.data(), sizeof words);
  SipHash24 hash(words[0], words[1]);
  hash.absorb(pubkey.bytes);
  return static_cast<ShardId>(hash.finish() % shard_count);
}

}  // namespace gyre::storage

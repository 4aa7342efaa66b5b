#include "gyre/storage/store.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/log.h"
#include "gyre/nostr/kind.h"
#include "storage/author_rules.h"
#include "storage/store_impl.h"
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
// Deaths worked off at once (those of one event's rules, mostly), and in a later turn: each costs
// reading an event and posting ten terms, about 3 us.
constexpr std::size_t kDeathsAtOnce = 8;
constexpr std::size_t kDeathsPerTurn = 128;
// Beyond, requests that may cause more deaths wait: their postings fill memory before a checkpoint
// may take them away.
constexpr std::size_t kDeathsPendingMax = 64 * 1024;

RetireReason reason_of(PackedEventView request) {
  return request.kind() == nostr::kKindVanish ? RetireReason::kVanished : RetireReason::kDeleted;
}

}  // namespace

Store::Store() = default;
Store::~Store() = default;

void Store::Impl::index_address_mark(const AddressMarkRecord& mark, LogPosition position) {
  DirectoryRow row = row_of_no_event(position);
  row.created_at = mark.created_at;
  row.id_prefix = mark.id_prefix;
  row.author_hash = static_cast<std::uint32_t>(hasher.author(mark.pubkey));
  const Sequence sequence = directory->append(row);
  postings->add({mark.address, mark.created_at, mark.id_prefix, sequence});
}

// All of `terms`, and what is in `new_postings` already.
void Store::Impl::post_terms(std::uint64_t created_at, std::uint64_t id_prefix, Sequence sequence) {
  for (const Term term : terms) new_postings.push_back({term, created_at, id_prefix, sequence});
  postings->add(new_postings);
  new_postings.clear();
}

Sequence Store::Impl::index_event(PackedEventView event, LogPosition position,
                                  std::span<const Sequence> retired_now) {
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
  retention_sweep->note_stored(created_at);

  terms.clear();
  append_query_terms(hasher, event, terms);
  if (const auto address = address_of(event, pubkey)) {
    const Term term = hasher.address(address->kind, address->pubkey, address->d);
    note_newer_version(term, retired_now);
    terms.push_back(term);
  }
  append_tombstones(hasher, event, terms);
  if (expiration) {
    new_postings.push_back({hasher.expiry(), *expiration, id_prefix, sequence});
    expiry_sweep->note_expiration(static_cast<std::int64_t>(*expiration));
  }
  post_terms(created_at, id_prefix, sequence);
  ++events_alive;
  return sequence;
}

// The version before, if it is dead but was not superseded, has refused older ones until now. From
// here on the new version does that, and compaction may drop the old one for good.
void Store::Impl::note_newer_version(Term address, std::span<const Sequence> retired_now) {
  const auto newest = postings->find_newest({address});
  if (!newest) return;
  const std::uint16_t flags = directory->row(newest->sequence).flags;
  if ((flags & kRowDead) == 0) return;
  if ((flags & kRowSuperseded) != 0) {
    // Mostly it has just been retired, and the queue knows. While the log is replayed the flag may
    // be of a checkpoint that a crash cut short, whose dead postings are lost.
    const bool is_replaying = log == nullptr;
    if (!is_replaying || std::ranges::binary_search(retired_now, newest->sequence)) return;
    directory_ahead_at = checkpoint->completed_count();
  }
  deaths->add_superseded(newest->sequence, address);
}

// A foreign request takes a row, so that its tombstones have a sequence to stand under, but the row
// is dead from the start and no query term leads to it.
Sequence Store::Impl::index_foreign_request(PackedEventView request, LogPosition position) {
  const Bytes32 id = request.id();
  DirectoryRow row = row_of_no_event(position);
  row.created_at = request.created_at();
  row.id_prefix = prefix64(id.bytes.data());
  row.kind = request.kind();
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
    deaths->add(sequence, cause);
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
    if (const auto verdict = why_no_room(retire_record_bytes(count))) return verdict;
    retire_by_record(reason, {first, retired.end()});
    retired.erase(first, retired.end());
  }
  return std::nullopt;
}

// Requires: there is room.
void Store::Impl::retire_by_record(RetireReason reason, const std::vector<Sequence>& sequences) {
  if (sequences.empty()) return;
  const std::vector<std::uint8_t> payload = encode_retire_record({reason, sequences});
  const ByteSpan part(payload);
  log->append(RecordType::kRetire, {&part, 1});
  retire(sequences, DeathCause::kOther);
}

Store::PutResult Store::Impl::append_event(RecordType type, PackedEventView event) {
  const std::size_t retired_max = retired_per_record_max();
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
  const Sequence sequence = type == RecordType::kEvent ? index_event(event, position, retired)
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

bool Store::sweep_expired(std::size_t budget) {
  Impl& impl = *impl_;
  budget = std::min(budget, impl.retired_per_record_max());
  if (impl.why_no_room(retire_record_bytes(budget))) return false;  // The next sweep tries again.
  impl.swept.clear();
  const bool has_more = impl.expiry_sweep->step(impl.clock.unix_s(), budget, impl.swept);
  impl.retire_by_record(RetireReason::kExpired, impl.swept);
  return has_more;
}

bool Store::apply_retention(const RetentionPolicy& policy, std::size_t budget) {
  Impl& impl = *impl_;
  if (policy.is_empty() || impl.deaths->size() > kDeathsPendingMax) return false;
  budget = std::min(budget, impl.retired_per_record_max());
  if (impl.why_no_room(retire_record_bytes(budget))) return false;
  if (!impl.retention_sweep->is_under_way()) impl.watch_size(policy);
  impl.swept.clear();
  const bool has_more = impl.retention_sweep->step(policy, impl.clock.unix_s(), budget, impl.swept);
  impl.retire_by_record(RetireReason::kOperator, impl.swept);
  return has_more;
}

// Compaction and merges give the space of the dead back in their own time, so what counts is how
// much the living will take when they have done so; above the limit compaction is told to hurry.
void Store::Impl::watch_size(const RetentionPolicy& policy) {
  const bool is_limited = policy.max_bytes != 0;
  compaction->set_hurry(is_limited && log->bytes_on_disk() + index_bytes() > policy.max_bytes);
  if (!is_limited || !deaths->is_empty()) return;
  const double log_bytes =
      compaction->bytes_of_event(events_alive) * static_cast<double>(events_alive);
  retention_sweep->limit_size(policy, log_bytes + living_bytes_of_index(*postings, *dead_postings),
                              events_alive, clock.unix_s(), {*postings, *dead_postings, hasher});
}

Verdict Store::remember_address(const AddressMark& mark) {
  const AddressMarkRecord record{{}, mark.address, mark.created_at, mark.id_prefix, mark.pubkey};
  const std::vector<std::uint8_t> payload = encode_address_mark(record);
  if (const auto verdict = impl_->why_no_room(payload.size())) return *verdict;
  const ByteSpan part(payload);
  impl_->index_address_mark(record, impl_->log->append(RecordType::kAddressMark, {&part, 1}));
  return Verdict::kAccept;
}

Verdict Store::retire_by_operator(std::span<const Sequence> sequences) {
  if (impl_->deaths->size() > kDeathsPendingMax) return Verdict::kBusy;
  if (const auto verdict = impl_->why_no_room(retire_record_bytes(sequences.size()))) {
    return *verdict;
  }
  impl_->retire_by_record(RetireReason::kOperator, {sequences.begin(), sequences.end()});
  return Verdict::kAccept;
}

// Expired events that are not swept yet have no dead postings.
std::optional<std::uint64_t> Store::count(const nostr::Filter& filter, const ReadAccess& access,
                                          std::int64_t now_s) const {
  const Impl& impl = *impl_;
  if (!impl.deaths->is_empty()) return std::nullopt;
  if (impl.dead_postings->find_newest({impl.hasher.unburied()})) return std::nullopt;
  const CountSources sources{*impl.postings, *impl.dead_postings, impl.hasher};
  if (now_s > impl.expiry_sweep->swept_until_s()) {
    const PostingRange unswept{impl.hasher.expiry(),
                               static_cast<std::uint64_t>(impl.expiry_sweep->swept_until_s() + 1),
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
  impl_->full_compaction->work();
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
  if (is_table_full()) (void)freeze();
}

bool Store::Impl::freeze() {
  if (checkpoint->is_under_way() || !deaths->is_empty()) return false;
  checkpoint->freeze(end_of_log(), events_alive);
  log->request_sync();
  return true;
}

bool Store::is_disk_full() const { return impl_->log->is_disk_full(); }
void Store::start_compacting_all() { impl_->full_compaction->start(); }
bool Store::is_compacting_all() const { return impl_->full_compaction->is_under_way(); }

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
  const CompactionTask::Statistics& compaction = impl_->compaction->statistics();
  statistics.compactions = compaction.segments_compacted;
  statistics.failed_compactions = compaction.failures;
  statistics.compacted_bytes = compaction.bytes_given_back;
  statistics.dead_bytes = compaction.dead_bytes;
  return statistics;
}

absl::Status Store::close() { return impl_->close(); }

absl::Status Store::Impl::close() {
  keeper.stop_thread();
  maintenance->stop();
  merge->abandon();
  compaction->abandon();
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

}  // namespace gyre::storage

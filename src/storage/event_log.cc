#include "gyre/storage/event_log.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/ids.h"
#include "gyre/base/log.h"
#include "storage/concat.h"
#include "storage/fatal_storage_error.h"
#include "storage/log_damage.h"
#include "storage/log_recovery.h"
#include "storage/log_segment.h"
#include "storage/log_tail.h"
#include "storage/log_writer.h"
#include "storage/resident_window.h"

namespace gyre::storage {
namespace {

// Below this a segment would be little but its header; the upper bound keeps offsets in 32 bits.
constexpr std::uint64_t kSegmentBytesMin = 4 * kKiB;
constexpr std::uint64_t kSegmentBytesMax = 2048 * kMiB;

constexpr std::uint64_t kCacheLineBytes = 64;
// Nearly every event; the processor runs ahead by itself in what is longer.
constexpr std::uint64_t kPrefetchBytesMax = 2 * kKiB;

constexpr std::uint64_t kSyncIntervalNs = 1'000'000'000;
constexpr std::uint64_t kSpaceRetryNs = 1'000'000'000;

}  // namespace

const Clock& kernel_clock() {
  static const SystemClock clock;
  return clock;
}

struct EventLog::Impl {
  Impl(FileSystem& files, std::string_view directory, const LogOptions& log_options,
       Random& random_source, const Clock& time)
      : place{files, std::string(directory), log_options.owner},
        options(log_options),
        random(random_source),
        clock(time),
        window(log_options.resident_bytes),
        damage(place.directory) {}
  ~Impl();

  absl::Status open(Start from, const std::function<absl::Status(const LogRecord&)>& replay,
                    LogRecovery& recovery);
  absl::Status begin_first_segment(RecoveredLog& recovered);
  absl::Status reserve_at_start();

  [[nodiscard]] LogSegment& active() const { return *segments.back(); }
  [[nodiscard]] std::uint64_t unwritten_bytes() const { return appended_bytes - written_bytes; }
  [[nodiscard]] bool fits_segment(std::uint64_t bytes) const {
    return appended.offset() + bytes <= options.segment_bytes;
  }
  [[nodiscard]] bool has_reserved(std::uint64_t bytes) const;
  [[nodiscard]] const std::uint8_t* direct_place(LogPosition position) const;
  LogPosition append_record(std::uint8_t type, std::span<const ByteSpan> parts,
                            std::uint64_t payload_bytes);
  void begin_next_segment();

  void start_commit();
  void post_commit(std::uint64_t now_ns);
  void post_space_job(std::uint64_t now_ns);
  [[nodiscard]] std::uint64_t bytes_to_reserve(const LogSegment& segment, std::uint64_t used,
                                               std::uint64_t record) const;
  absl::Status take_results(bool& has_moved);
  void take_commit(const LogResult& result);
  void take_space(const LogResult& result);
  enum class Shortage : std::uint8_t { kDisk, kDescriptors };
  void note_shortage(Shortage shortage);
  [[nodiscard]] static Shortage shortage_of(const LogResult& result) {
    return result.lacks_descriptors ? Shortage::kDescriptors : Shortage::kDisk;
  }

  absl::Status close();
  absl::Status commit_everything();
  absl::Status append_mark();

  [[nodiscard]] const LogSegment& segment_of(LogPosition position) const {
    const std::size_t index = position.segment() - kFirstSegment;
    GYRE_ASSERT_CMP(index, <, segments.size());
    return *segments[index];
  }
  // What a record of a compacted segment says of itself; others say nothing of the kind.
  [[nodiscard]] static std::optional<std::uint32_t> named_offset(const LogSegment& segment,
                                                                 LogPosition position) {
    return segment.offset_table() == nullptr ? std::nullopt : std::optional(position.offset());
  }
  void add_to_window(const LogSegment& segment);
  // How far the kernel has records of the segment.
  [[nodiscard]] std::uint64_t written_end(const LogSegment& segment) const {
    return segment.header().number == written.segment() ? written.offset() : segment.sealed_end();
  }

  const LogSegment::Place place;
  LogOptions options;
  Random& random;
  const Clock& clock;

  std::vector<std::unique_ptr<LogSegment>> segments;  // segments[i] has number kFirstSegment + i.
  std::unique_ptr<LogSegment> next;                   // Prepared, or null.
  std::uint64_t sealed_bytes = 0;                     // Used bytes of all segments but the last.
  LogTail tail;
  std::vector<LogPiece> pieces;  // The writer's while a commit is in flight.

  LogPosition appended;
  LogPosition written;
  LogPosition durable;
  LogPosition sync_target;  // durable is to come here, whatever the durability.
  std::uint64_t next_number = 0;
  std::uint64_t appended_bytes = 0;  // Since the log was opened.
  std::uint64_t written_bytes = 0;
  bool ends_with_mark = false;
  bool is_closed = false;

  bool is_commit_in_flight = false;
  bool is_space_job_in_flight = false;
  LogSegment* reserving = nullptr;  // What the space job extends; null if it prepares a segment.
  bool is_commit_blocked = false;   // The next segment could not begin: a folder without space.
  bool is_next_wanted = false;      // By end_segment().
  bool is_disk_full = false;
  std::uint64_t space_retry_ns = 0;  // Not before, while the disk is full.
  std::uint64_t last_sync_ns = 0;
  // The largest record that found no reserved space since the last look.
  mutable std::uint64_t wanted_bytes = 0;

  ResidentWindow window;
  mutable LogDamageReports damage;  // What has been said, which changes no answer.

  std::unique_ptr<LogWriter> writer;  // Last: its thread uses what stands above.
};

EventLog::EventLog() = default;
EventLog::~EventLog() = default;

EventLog::Impl::~Impl() {
  if (writer != nullptr) writer->stop_thread();
}

absl::StatusOr<std::unique_ptr<EventLog>> EventLog::open(
    FileSystem& files, std::string_view directory, const LogOptions& options, Random& random,
    Start from, const std::function<absl::Status(const LogRecord&)>& replay, LogRecovery& recovery,
    const Clock& clock) {
  if (options.segment_bytes < kSegmentBytesMin || options.segment_bytes > kSegmentBytesMax) {
    return absl::InvalidArgumentError(concat("a log segment of ", options.segment_bytes,
                                             " bytes: it must have between ", kSegmentBytesMin,
                                             " and ", kSegmentBytesMax));
  }
  if (options.reserve_bytes == 0) {
    return absl::InvalidArgumentError("the log must reserve at least one byte at a time");
  }
  std::unique_ptr<EventLog> log(new EventLog());
  log->impl_ = std::make_unique<Impl>(files, directory, options, random, clock);
  absl::Status status = log->impl_->open(from, replay, recovery);
  if (!status.ok()) return status;
  return log;
}

absl::Status EventLog::Impl::open(Start from,
                                  const std::function<absl::Status(const LogRecord&)>& replay,
                                  LogRecovery& recovery) {
  if (absl::Status status = place.files.create_directories(place.directory); !status.ok()) {
    return status;
  }
  auto recovered = recover_log(place, options.segment_bytes, from, replay, recovery);
  if (!recovered.ok()) return recovered.status();
  if (recovered->segments.empty()) {
    if (absl::Status status = begin_first_segment(*recovered); !status.ok()) return status;
  }
  // Everything that was recovered is durable: recover_log() has synced it before it was read.
  segments = std::move(recovered->segments);
  sealed_bytes = recovered->sealed_bytes;
  appended = written = durable = sync_target = recovered->end;
  next_number = recovered->next_number;
  ends_with_mark = recovered->is_cleanly_ended;
  last_sync_ns = clock.monotonic_ns();
  for (const auto& segment : segments) {
    add_to_window(*segment);
  }
  window.set_end(written);
  if (absl::Status status = reserve_at_start(); !status.ok()) return status;
  writer = std::make_unique<LogWriter>(place, options.segment_bytes, active(), appended);
  return absl::OkStatus();
}

void EventLog::Impl::add_to_window(const LogSegment& segment) {
  const std::uint32_t number = segment.header().number;
  if (segment.offset_table() == nullptr) {
    window.add(number, segment.shared_file(), segment.sealed_end());
  } else if (segment.is_mapped()) {
    window.add_compacted(number, segment.shared_file(), segment.sealed_end(), segment.file_bytes());
  } else {
    window.add_compacted(number, nullptr, 0, 0);
  }
}

absl::Status EventLog::Impl::begin_first_segment(RecoveredLog& recovered) {
  auto first = LogSegment::prepare(place, kFirstSegment, random.next_u64(), options.segment_bytes,
                                   options.reserve_bytes);
  if (!first.ok()) return first.status();
  if (absl::Status status = (*first)->begin(place); !status.ok()) return status;
  recovered.segments.push_back(*std::move(first));
  recovered.end = LogPosition::at(kFirstSegment, kSegmentHeaderBytes);
  recovered.is_cleanly_ended = true;
  return absl::OkStatus();
}

// The file's size says nothing: a copy or a restored backup may have holes.
absl::Status EventLog::Impl::reserve_at_start() {
  LogSegment& segment = active();
  const std::uint64_t used = appended.offset();
  segment.set_reserved_end(used);
  if (used >= options.segment_bytes) return absl::OkStatus();
  const auto reserved = reserve_what_fits(
      segment.file(), used, std::min(options.reserve_bytes, options.segment_bytes - used));
  if (!reserved.ok()) return reserved.status();
  segment.set_reserved_end(used + *reserved);
  if (*reserved == 0) note_shortage(Shortage::kDisk);
  return absl::OkStatus();
}

std::uint64_t EventLog::payload_bytes_max() const {
  const std::uint64_t space = impl_->options.segment_bytes - kSegmentHeaderBytes;
  const std::uint64_t aligned = space & ~std::uint64_t{kRecordAlignment - 1};
  return std::min<std::uint64_t>(aligned - kRecordHeaderBytes, kPayloadBytesMax);
}

bool EventLog::has_room(std::uint64_t payload_bytes) const {
  if (payload_bytes > payload_bytes_max() || impl_->is_closed) return false;
  const std::uint64_t bytes = record_bytes(payload_bytes);
  const std::uint64_t unwritten = impl_->unwritten_bytes();
  if (unwritten != 0 && unwritten + bytes > impl_->options.tail_bytes_max) return false;
  if (impl_->has_reserved(bytes)) return true;
  impl_->wanted_bytes = std::max(impl_->wanted_bytes, bytes);
  return false;
}

bool EventLog::Impl::has_reserved(std::uint64_t bytes) const {
  const std::uint64_t reserved_end = active().reserved_end();
  if (fits_segment(bytes)) return appended.offset() + bytes <= reserved_end;
  // Fewer bytes may come than were asked about, and they may fit here after all.
  return reserved_end >= options.segment_bytes && next != nullptr &&
         kSegmentHeaderBytes + bytes <= next->reserved_end();
}

bool EventLog::is_disk_full() const { return impl_->is_disk_full; }

LogPosition EventLog::append(RecordType type, std::span<const ByteSpan> parts) {
  const auto raw_type = static_cast<std::uint8_t>(type);
  GYRE_ASSERT(raw_type != 0 && raw_type != kMarkType);
  std::uint64_t payload_bytes = 0;
  for (const ByteSpan part : parts) payload_bytes += part.size();
  GYRE_ASSERT(has_room(payload_bytes));
  const LogPosition position = impl_->append_record(raw_type, parts, payload_bytes);
  ++impl_->next_number;
  return position;
}

LogPosition EventLog::Impl::append_record(std::uint8_t type, std::span<const ByteSpan> parts,
                                          std::uint64_t payload_bytes) {
  const std::uint64_t bytes = record_bytes(payload_bytes);
  if (!fits_segment(bytes)) begin_next_segment();
  LogSegment& segment = active();
  const LogPosition position = appended;

  std::uint8_t* const record = tail.extend(segment, position, static_cast<std::uint32_t>(bytes));
  RecordHeader header;
  header.payload_bytes = static_cast<std::uint32_t>(payload_bytes);
  header.type = type;
  header.index = static_cast<std::uint32_t>(next_number - segment.header().first_record);
  header.synced = durable.segment() == position.segment() ? durable.offset() : 0;
  encode_record_header(record, header);
  std::uint8_t* at = record + kRecordHeaderBytes;
  for (const ByteSpan part : parts) {
    if (!part.empty()) std::memcpy(at, part.data(), part.size());
    at += part.size();
  }
  std::memset(at, 0, static_cast<std::size_t>(record + bytes - at));
  seal_record(segment.seed(), record, bytes);

  appended =
      LogPosition::at(position.segment(), position.offset() + static_cast<std::uint32_t>(bytes));
  appended_bytes += bytes;
  ends_with_mark = type == kMarkType;
  return position;
}

void EventLog::Impl::begin_next_segment() {
  active().set_file_bytes(appended.offset());
  next->set_first_record(next_number);
  sealed_bytes += appended.offset();
  active().set_sealed_end(appended.offset());
  window.seal(appended.offset());
  appended = LogPosition::at(next->header().number, kSegmentHeaderBytes);
  segments.push_back(std::move(next));
  window.add(active().header().number, active().shared_file(), 0);
}

ByteSpan EventLog::read(LogPosition position) const {
  if (position < impl_->written) {
    return payload_at(impl_->segment_of(position), position.offset());
  }
  const std::uint8_t* const record = impl_->tail.find(position);
  return {record + kRecordHeaderBytes, decode_record_header(record).payload_bytes};
}

bool EventLog::has_record(LogPosition position) const {
  if (position >= impl_->written) return true;
  return impl_->segment_of(position).find(position.offset()).has_value();
}

std::optional<ByteSpan> EventLog::read_checked(LogPosition position) const {
  if (position >= impl_->written) return read(position);  // Memory of our own.
  const LogSegment& segment = impl_->segment_of(position);
  const std::uint64_t end = impl_->written_end(segment);
  std::optional<ByteSpan> payload;
  if (const auto at = segment.find(position.offset())) {
    GYRE_ASSERT_CMP(*at, <, end);
    payload = check_record(segment.seed(), {segment.bytes() + *at, end - *at},
                           Impl::named_offset(segment, position));
  }
  if (!payload) report_damage(position);
  return payload;
}

// Null where finding a record is no less work than reading it: in the tail, which was written
// lately, and in what was compacted.
const std::uint8_t* EventLog::Impl::direct_place(LogPosition position) const {
  if (position >= written) return nullptr;
  const LogSegment& segment = segment_of(position);
  return segment.offset_table() == nullptr ? segment.bytes() + position.offset() : nullptr;
}

void EventLog::prefetch_head(LogPosition position) const {
  const std::uint8_t* const record = impl_->direct_place(position);
  if (record != nullptr) __builtin_prefetch(record);
}

void EventLog::prefetch(LogPosition position) const {
  const std::uint8_t* const record = impl_->direct_place(position);
  if (record == nullptr) return;
  const std::uint64_t bytes =
      std::min(record_bytes(decode_record_header(record).payload_bytes), kPrefetchBytesMax);
  for (std::uint64_t at = kCacheLineBytes; at < bytes + kCacheLineBytes; at += kCacheLineBytes) {
    __builtin_prefetch(record + at);
  }
}

// What compaction has left next to nothing of is in memory anyway.
bool EventLog::is_resident(LogPosition position) const {
  return impl_->window.contains(position) || !impl_->segment_of(position).is_mapped();
}

RecordPlace EventLog::locate(LogPosition position) const {
  GYRE_ASSERT(position < impl_->written);
  const LogSegment& segment = impl_->segment_of(position);
  const std::uint64_t end = impl_->written_end(segment);
  // A place without bytes reads as damaged.
  const std::uint64_t at = segment.find(position.offset()).value_or(end);
  return {segment.shared_file(), at, end - at, segment.seed(),
          Impl::named_offset(segment, position)};
}

void EventLog::set_resident_bytes(std::uint64_t bytes) {
  impl_->window.set_bytes_max(bytes);
  impl_->window.set_end(impl_->written);
}

void EventLog::expect_keeper() { impl_->window.expect_keeper(); }

void EventLog::keep_in_memory(const std::atomic<bool>& is_stopping) {
  impl_->window.keep_in_memory(is_stopping);
}

void EventLog::report_damage(LogPosition position) const { impl_->damage.report_damage(position); }

void EventLog::report_unreadable(LogPosition position, int error) const {
  impl_->damage.report_unreadable(position, error);
}

const LogDamage& EventLog::damage() const { return impl_->damage.damage(); }

LogPosition EventLog::appended() const { return impl_->appended; }
LogPosition EventLog::written() const { return impl_->written; }
LogPosition EventLog::durable() const { return impl_->durable; }
LogPosition EventLog::acknowledged() const {
  return impl_->options.durability == Durability::kFsync ? impl_->durable : impl_->written;
}
std::uint64_t EventLog::next_number() const { return impl_->next_number; }
std::uint64_t EventLog::bytes_on_disk() const {
  return impl_->sealed_bytes + impl_->appended.offset();
}

std::vector<const LogSegment*> EventLog::segments_up_to(std::uint32_t last) const {
  GYRE_ASSERT_CMP(last, <=, impl_->appended.segment());
  std::vector<const LogSegment*> segments;
  for (std::uint32_t number = kFirstSegment; number <= last; ++number) {
    segments.push_back(impl_->segments[number - kFirstSegment].get());
  }
  return segments;
}

bool EventLog::end_segment() {
  if (impl_->next_number == impl_->active().header().first_record) return true;
  const bool has_room = impl_->next != nullptr &&
                        kSegmentHeaderBytes + record_bytes(0) <= impl_->next->reserved_end();
  impl_->is_next_wanted = !has_room;
  if (!has_room) return false;
  impl_->begin_next_segment();
  // A record makes the writer seal the old segment and begin this one. It says nothing that is not
  // true: recovery takes a mark at the beginning for what an empty segment is anyway.
  impl_->append_record(kMarkType, {}, 0);
  return true;
}

std::unique_ptr<LogSegment> EventLog::replace_segment(std::unique_ptr<LogSegment> compacted) {
  const std::uint32_t number = compacted->header().number;
  GYRE_ASSERT_CMP(number, <, impl_->appended.segment());
  std::unique_ptr<LogSegment>& place = impl_->segments[number - kFirstSegment];
  impl_->sealed_bytes += compacted->file_bytes();
  impl_->sealed_bytes -= place->file_bytes();
  impl_->window.replace_compacted(number, compacted->shared_file(), compacted->sealed_end(),
                                  compacted->file_bytes());
  return std::exchange(place, std::move(compacted));
}

void EventLog::start_commit() { impl_->start_commit(); }

void EventLog::Impl::start_commit() {
  // The clock is looked at only where time matters.
  const bool needs_clock =
      is_disk_full || is_commit_blocked || options.durability == Durability::kInterval;
  const std::uint64_t now_ns = needs_clock ? clock.monotonic_ns() : 0;
  if (!is_commit_in_flight) post_commit(now_ns);
  if (!is_space_job_in_flight) post_space_job(now_ns);
}

void EventLog::Impl::post_commit(std::uint64_t now_ns) {
  if (is_closed) return;
  bool has_to_sync = durable < sync_target;
  switch (options.durability) {
    case Durability::kFsync: has_to_sync |= durable < appended; break;
    case Durability::kInterval:
      if (durable < appended && now_ns - last_sync_ns >= kSyncIntervalNs) {
        has_to_sync = true;
        last_sync_ns = now_ns;
      }
      break;
    case Durability::kOs: break;
  }
  if (written == appended && !has_to_sync) return;
  if (is_commit_blocked && now_ns < space_retry_ns) return;
  tail.collect(written, pieces);
  writer->post({.kind = LogJob::Kind::kCommit,
                .sync = has_to_sync ? LogSync::kYes : LogSync::kNo,
                .pieces = &pieces});
  is_commit_in_flight = true;
}

// Keeps half a step reserved ahead, so that in the steady state nobody waits for space.
void EventLog::Impl::post_space_job(std::uint64_t now_ns) {
  if (is_closed || (is_disk_full && now_ns < space_retry_ns)) return;
  const std::uint64_t wanted = std::exchange(wanted_bytes, 0);
  const bool wants_next = is_next_wanted || !fits_segment(wanted);
  LogSegment* segment = &active();
  // What does not fit here wants all that is left of it first (has_reserved()).
  const std::uint64_t wanted_here = fits_segment(wanted) ? wanted : options.segment_bytes;
  std::uint64_t bytes = bytes_to_reserve(*segment, appended.offset(), wanted_here);
  if (bytes == 0 && next != nullptr && wants_next) {
    segment = next.get();
    bytes = bytes_to_reserve(*segment, kSegmentHeaderBytes, wanted);
  }
  const bool is_near_end = appended.offset() + 2 * options.reserve_bytes >= options.segment_bytes;
  LogJob job;
  if (bytes != 0) {
    job.kind = LogJob::Kind::kReserve;
    job.segment = segment;
    job.bytes = bytes;
  } else if (next == nullptr && (is_near_end || wants_next)) {
    job.kind = LogJob::Kind::kPrepare;
    job.number = active().header().number + 1;
    job.segment_id = random.next_u64();
    job.bytes = std::max(options.reserve_bytes, kSegmentHeaderBytes + wanted);
  } else {
    is_disk_full = false;  // There is what is needed by now.
    return;
  }
  reserving = job.segment;
  is_space_job_in_flight = true;
  writer->post(job);
}

// 0 if enough of the segment is reserved behind `used`, for a record of `record` bytes too.
std::uint64_t EventLog::Impl::bytes_to_reserve(const LogSegment& segment, std::uint64_t used,
                                               std::uint64_t record) const {
  const std::uint64_t end = segment.reserved_end();
  const std::uint64_t ahead = end - used;
  if (end >= options.segment_bytes) return 0;
  if (ahead >= std::max(options.reserve_bytes / 2, record)) return 0;
  const std::uint64_t step = std::max(options.reserve_bytes, record - std::min(record, ahead));
  return std::min(step, options.segment_bytes - end);
}

bool EventLog::take_completions() {
  bool has_moved = false;
  if (absl::Status status = impl_->take_results(has_moved); !status.ok()) {
    fatal_storage_error(status);
  }
  return has_moved;
}

absl::Status EventLog::Impl::take_results(bool& has_moved) {
  LogResult result;
  while (writer->take_result(result)) {
    if (result.has_failed) return writer->failure();
    if (result.kind == LogJob::Kind::kCommit) {
      has_moved |= result.written != written || result.durable != durable;
      take_commit(result);
    } else {
      take_space(result);
    }
  }
  tail.release(written);
  window.set_end(written);
  return absl::OkStatus();
}

void EventLog::Impl::take_commit(const LogResult& result) {
  GYRE_ASSERT(is_commit_in_flight);
  is_commit_in_flight = false;
  written = result.written;
  durable = result.durable;
  written_bytes += result.written_bytes;
  GYRE_ASSERT_CMP(durable.value, <=, written.value);
  GYRE_ASSERT_CMP(written.value, <=, appended.value);
  is_commit_blocked = result.is_disk_full;
  if (result.is_disk_full) note_shortage(shortage_of(result));
}

void EventLog::Impl::take_space(const LogResult& result) {
  GYRE_ASSERT(is_space_job_in_flight);
  is_space_job_in_flight = false;
  if (result.is_disk_full) {
    note_shortage(shortage_of(result));
    return;
  }
  if (is_disk_full) GYRE_LOG(kInfo, "%s: there is space again", place.directory.c_str());
  is_disk_full = false;
  if (result.kind == LogJob::Kind::kPrepare) {
    GYRE_ASSERT(next == nullptr);
    next.reset(result.segment);
  } else {
    reserving->set_reserved_end(reserving->reserved_end() + result.bytes);
  }
}

void EventLog::Impl::note_shortage(Shortage shortage) {
  if (!is_disk_full) {
    GYRE_LOG(kWarning, "%s: %s; events are refused until there is some", place.directory.c_str(),
             shortage == Shortage::kDisk
                 ? "no space on the disk"
                 : "no descriptor or mapping for the next segment of the log (raise LimitNOFILE in "
                   "systemd or `ulimit -n`, and the sysctl vm.max_map_count)");
  }
  is_disk_full = true;
  space_retry_ns = clock.monotonic_ns() + kSpaceRetryNs;
}

void EventLog::request_sync() { impl_->sync_target = impl_->appended; }

bool EventLog::is_commit_in_flight() const {
  return impl_->is_commit_in_flight || impl_->is_space_job_in_flight;
}

void EventLog::start_writer_thread(std::function<void()> on_progress) {
  impl_->writer->start_thread(std::move(on_progress));
}

bool EventLog::run_writer_once() { return impl_->writer->run_once(); }

absl::Status EventLog::close() { return impl_->close(); }

absl::Status EventLog::Impl::close() {
  if (is_closed) return absl::OkStatus();
  writer->stop_thread();
  if (absl::Status status = commit_everything(); !status.ok()) return status;
  if (absl::Status status = append_mark(); !status.ok()) return status;
  is_closed = true;
  if (next != nullptr) {
    if (absl::Status status = next->discard(place); !status.ok()) return status;
    next.reset();
  }
  return active().seal(appended.offset());
}

absl::Status EventLog::Impl::commit_everything() {
  sync_target = appended;
  space_retry_ns = 0;
  for (bool has_moved = false;;) {
    if (absl::Status status = take_results(has_moved); !status.ok()) return status;
    if (durable == appended && !is_commit_in_flight && !is_space_job_in_flight) {
      return absl::OkStatus();
    }
    if (!is_commit_in_flight) post_commit(clock.monotonic_ns());
    if (!writer->run_once()) {
      return absl::ResourceExhaustedError(
          concat(place.directory, ": no space on the disk for the next segment of the log"));
    }
  }
}

// Says to the next start that all before it was durable, so that damage cannot pass for a torn
// tail. It goes only where there is room without a new segment, and is durable by the final seal.
absl::Status EventLog::Impl::append_mark() {
  const std::uint64_t bytes = record_bytes(0);
  if (ends_with_mark || !fits_segment(bytes) || !has_reserved(bytes)) return absl::OkStatus();
  append_record(kMarkType, {}, 0);
  return commit_everything();
}

}  // namespace gyre::storage

#include "storage/log_recovery.h"

#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/ids.h"
#include "storage/concat.h"
#include "storage/log_scanner.h"

namespace gyre::storage {
namespace {

constexpr std::string_view kCure =
    ". Stop gyre and run `gyre check --repair`: it keeps every whole record and lists what is "
    "lost; or restore a backup";

// How much is made resident at once. Big enough to keep a disk busy, small beside the page cache.
constexpr std::uint64_t kWindowBytes = 4 * kMiB;

class Recovery final : public ReplayedRecords {
 public:
  Recovery(const LogSegment::Place& place, std::uint64_t segment_bytes, EventLog::Start from,
           const std::function<absl::Status(const LogRecord&)>& replay, LogRecovery& report)
      : place_(place),
        segment_bytes_(segment_bytes),
        from_(from),
        replay_(replay),
        report_(report) {}

  absl::StatusOr<RecoveredLog> run();

  [[nodiscard]] ByteSpan read(LogPosition position) const override {
    const std::size_t index = position.segment() - kFirstSegment;
    GYRE_ASSERT_CMP(index, <, log_.segments.size());
    return payload_at(*log_.segments[index], position.offset());
  }

 private:
  absl::Status open_segments();
  absl::StatusOr<std::uint32_t> find_segments();
  absl::Status check_start();
  absl::Status scan_segment(std::size_t index);
  absl::Status replay_records(const LogSegment& segment, LogScanner& scanner);
  absl::Status check_sealed_end(std::size_t index, const LogScanner& scanner);
  absl::Status cut_torn_tail(LogSegment& segment, const LogScanner& scanner);

  [[nodiscard]] std::string path(std::size_t index) const {
    return concat(place_.directory, "/", segment_name(number_of(index)));
  }
  // A compacted segment may be replayed as a whole only: what a checkpoint within it left to be
  // replayed may have been dropped.
  [[nodiscard]] static std::uint64_t end_of_records(const LogSegment& segment) {
    return segment.offset_table() != nullptr ? kSegmentHeaderBytes : segment.file_bytes();
  }
  [[nodiscard]] static std::uint32_t number_of(std::size_t index) {
    return kFirstSegment + static_cast<std::uint32_t>(index);
  }

  const LogSegment::Place& place_;
  const std::uint64_t segment_bytes_;
  EventLog::Start from_;
  const std::function<absl::Status(const LogRecord&)>& replay_;
  LogRecovery& report_;
  RecoveredLog log_;
};

absl::StatusOr<RecoveredLog> Recovery::run() {
  report_ = {};
  if (absl::Status status = open_segments(); !status.ok()) return status;
  if (absl::Status status = check_start(); !status.ok()) return status;
  if (log_.segments.empty()) return std::move(log_);
  for (std::size_t i = from_.position.segment() - kFirstSegment; i < log_.segments.size(); ++i) {
    if (absl::Status status = scan_segment(i); !status.ok()) return status;
  }
  return std::move(log_);
}

absl::Status Recovery::open_segments() {
  const auto last = find_segments();
  if (!last.ok()) return last.status();
  for (std::uint32_t number = kFirstSegment; number <= *last; ++number) {
    const bool is_last = number == *last;
    auto segment = LogSegment::open(place_, number, is_last ? segment_bytes_ : 0);
    if (!segment.ok()) return segment.status();
    if (is_last && (*segment)->header().is_compacted()) {
      return absl::DataLossError(concat(path(number - kFirstSegment + 1),
                                        " is missing: ", segment_name(number),
                                        " is compacted, which the last segment never is", kCure));
    }
    if (is_last) {
      // What is read now may stand in the page cache only, left by a process that died before its
      // sync. It must be durable before it is believed.
      if (absl::Status status = (*segment)->file().sync_data(); !status.ok()) return status;
    }
    const std::uint64_t size = (*segment)->file_bytes();
    if (size > UINT32_MAX) {
      return absl::DataLossError(
          concat(path(log_.segments.size()), " is larger than a segment can be"));
    }
    if (!is_last) {
      log_.sealed_bytes += size;
      const SegmentHeader& header = (*segment)->header();
      (*segment)->set_sealed_end(header.is_compacted() ? header.records_end : size);
    }
    log_.segments.push_back(*std::move(segment));
  }
  return absl::OkStatus();
}

// The number of the last segment, 0 if there is none.
absl::StatusOr<std::uint32_t> Recovery::find_segments() {
  const auto names = place_.files.list(place_.directory);
  if (!names.ok()) return names.status();
  std::uint32_t last = 0;
  for (const std::string& name : *names) {
    if (is_unfinished_segment_name(name)) {
      absl::Status status = place_.files.remove(concat(place_.directory, "/", name));
      if (!status.ok()) return status;
    }
    const std::uint32_t number = parse_segment_name(name);
    if (number == 0) continue;
    // Names are sorted by text, which is by number up to eight digits; beyond, a wrong order shows
    // as a gap and refuses, after 100 million segments.
    if (number != last + 1) {
      return absl::DataLossError(concat(path(last), " is missing: there is ", name, kCure));
    }
    last = number;
  }
  return last;
}

absl::Status Recovery::check_start() {
  if (from_.position.value == 0) {
    from_ = {LogPosition::at(kFirstSegment, kSegmentHeaderBytes), 0};
    if (log_.segments.empty() || log_.segments.front()->header().first_record == 0) {
      return absl::OkStatus();
    }
  }
  const LogPosition position = from_.position;
  const bool is_there = position.segment() >= kFirstSegment &&
                        position.segment() - kFirstSegment < log_.segments.size();
  if (is_there) {
    const std::size_t index = position.segment() - kFirstSegment;
    const std::uint64_t first_record = log_.segments[index]->header().first_record;
    if (position.offset() >= kSegmentHeaderBytes && position.offset() % kRecordAlignment == 0 &&
        position.offset() <= end_of_records(*log_.segments[index]) &&
        from_.number >= first_record && from_.number - first_record <= UINT32_MAX) {
      return absl::OkStatus();
    }
  }
  return absl::DataLossError(
      concat("the log in ", place_.directory, " lacks record ", from_.number,
             ", expected at offset ", position.offset(), " of ", segment_name(position.segment()),
             "; it belongs to another checkpoint or has lost its end", kCure));
}

absl::Status Recovery::scan_segment(std::size_t index) {
  LogSegment& segment = *log_.segments[index];
  const bool is_first = number_of(index) == from_.position.segment();
  const std::uint32_t offset = is_first ? from_.position.offset() : kSegmentHeaderBytes;
  const std::uint64_t number = is_first ? from_.number : segment.header().first_record;
  LogScanner scanner(segment.file_span(), segment.header(), offset, number);
  if (segment.is_mapped()) segment.file().expect(File::Access::kSequential);
  if (absl::Status status = replay_records(segment, scanner); !status.ok()) return status;
  if (index + 1 < log_.segments.size()) {
    if (segment.is_mapped()) segment.file().expect(File::Access::kRandom);
    return check_sealed_end(index, scanner);
  }
  log_.end = LogPosition::at(number_of(index), scanner.offset());
  log_.next_number = scanner.number();
  log_.is_cleanly_ended = scanner.is_cleanly_ended();
  return cut_torn_tail(segment, scanner);
}

absl::Status Recovery::replay_records(const LogSegment& segment, LogScanner& scanner) {
  std::uint64_t window_end = segment.is_mapped() ? scanner.offset() : UINT64_MAX;
  if (segment.is_mapped()) segment.file().read_ahead(window_end, kWindowBytes);
  for (LogRecord record;;) {
    if (scanner.offset() >= window_end) {
      window_end = scanner.offset() + kWindowBytes;
      segment.file().read_ahead(window_end, kWindowBytes);
      segment.file().populate(scanner.offset(), kWindowBytes);
    }
    if (scanner.next(record) != LogScanner::Step::kRecord) return absl::OkStatus();
    record.earlier = this;
    if (absl::Status status = replay_(record); !status.ok()) return status;
    ++report_.records;
  }
}

// A sealed segment was synced whole before the next one began, so nothing can be torn in it.
absl::Status Recovery::check_sealed_end(std::size_t index, const LogScanner& scanner) {
  const std::uint64_t expected = log_.segments[index + 1]->header().first_record;
  const OffsetTable* const table = log_.segments[index]->offset_table();
  if (table != nullptr && !table->is_sound()) {
    return absl::DataLossError(
        concat(path(index), " is damaged: its offset table fails the checksum", kCure));
  }
  const bool is_whole =
      table == nullptr || scanner.offset() == log_.segments[index]->header().records_end;
  if (scanner.number() == expected && is_whole) return absl::OkStatus();
  return absl::DataLossError(concat(path(index), " is damaged at offset ", scanner.offset(),
                                    ": record ", scanner.number(), " is not there, though ",
                                    segment_name(number_of(index + 1)), " begins with record ",
                                    expected, kCure));
}

absl::Status Recovery::cut_torn_tail(LogSegment& segment, const LogScanner& scanner) {
  const LogScanner::Remains remains = scanner.examine_remains();
  segment.file().expect(File::Access::kRandom);
  if (remains.proof_of_damage) {
    return absl::DataLossError(concat(path(log_.segments.size() - 1), " is damaged at offset ",
                                      scanner.offset(), ": no valid record ", scanner.number(),
                                      ", but later ones from offset ", *remains.proof_of_damage,
                                      " on. Starting would lose them", kCure));
  }
  report_.torn_bytes = remains.bytes;
  if (remains.bytes == 0) return absl::OkStatus();
  // Durably gone before anything is appended: a whole record in what is cut would otherwise become
  // valid again once a new record of the right length stands before it.
  if (absl::Status status = segment.file().truncate(scanner.offset()); !status.ok()) return status;
  return segment.file().sync_data();
}

}  // namespace

absl::StatusOr<RecoveredLog> recover_log(
    const LogSegment::Place& place, std::uint64_t segment_bytes, EventLog::Start from,
    const std::function<absl::Status(const LogRecord&)>& replay, LogRecovery& recovery) {
  return Recovery(place, segment_bytes, from, replay, recovery).run();
}

}  // namespace gyre::storage

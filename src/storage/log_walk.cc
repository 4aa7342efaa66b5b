#include "storage/log_walk.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "gyre/base/ids.h"
#include "storage/concat.h"
#include "storage/log_scanner.h"
#include "storage/log_segment.h"
#include "storage/offset_table.h"
#include "storage/segment_rescue.h"

namespace gyre::storage {
namespace {

// How much is made resident at once, and how often the visitor hears of it.
constexpr std::uint64_t kWindowBytes = 4 * kMiB;

// A segment as a file, whatever is in it.
struct SegmentFile {
  std::uint32_t number = 0;
  std::string path;
  std::unique_ptr<File> file;
  ByteSpan bytes;
};

class Walk {
 public:
  Walk(FileSystem& files, std::string_view folder, LogPosition durable_until, LogVisitor& visitor)
      : files_(files), folder_(folder), durable_until_(durable_until), visitor_(visitor) {}

  absl::StatusOr<LogExtent> run();

 private:
  absl::StatusOr<SegmentFile> open(std::uint32_t number) const;
  absl::Status visit(const SegmentFile& segment);
  absl::StatusOr<std::optional<SegmentHeader>> find_header(const SegmentFile& segment);
  void begin_at(const SegmentFile& segment, std::uint64_t first_record);
  absl::Status read_records(const SegmentFile& segment, const SegmentHeader& header);
  absl::Status read_until_break(const SegmentFile& segment, LogScanner& scanner);
  void check_table(const SegmentFile& segment, SegmentHeader& header);
  std::optional<LogScanner::Place> pass_break(const SegmentFile& segment, ByteSpan records,
                                              const LogScanner& scanner);
  [[nodiscard]] DamagedStretch damage_at(std::string path, std::uint32_t segment,
                                         std::uint64_t offset) const;
  void open_whole_damage(std::string path, std::uint32_t segment, std::uint64_t bytes,
                         std::string_view what);
  void close_damage(std::uint64_t next_number);

  FileSystem& files_;
  const std::string folder_;
  const LogPosition durable_until_;
  LogVisitor& visitor_;
  std::uint32_t last_ = 0;                          // Number of the last segment.
  std::uint32_t as_written_ = kSegmentHeaderBytes;  // Of the last record, or where it ended.
  LogExtent extent_;
  // What stands at the end of a segment (or is a whole one) without records. The segment that
  // follows tells how many are lost by it.
  std::optional<DamagedStretch> open_damage_;
};

bool is_zero(ByteSpan bytes) {
  return std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t byte) { return byte == 0; });
}

absl::StatusOr<LogExtent> Walk::run() {
  const auto numbers = list_segments(files_, folder_);
  if (!numbers.ok()) return numbers.status();
  std::uint32_t expected = kFirstSegment;
  last_ = numbers->empty() ? 0 : numbers->back();
  for (const std::uint32_t number : *numbers) {
    if (number != expected) {
      if (open_damage_ && open_damage_->what.empty()) open_damage_.reset();
      close_damage(extent_.next_number);
      open_whole_damage(concat(folder_, "/", segment_name(expected)), expected, 0,
                        "the segment is missing");
    }
    const auto segment = open(number);
    if (!segment.ok()) return segment.status();
    if (absl::Status status = visit(*segment); !status.ok()) return status;
    extent_.bytes += segment->bytes.size();
    ++extent_.segments;
    expected = number + 1;
  }
  close_damage(extent_.next_number);
  return extent_;
}

absl::StatusOr<SegmentFile> Walk::open(std::uint32_t number) const {
  SegmentFile segment;
  segment.number = number;
  segment.path = concat(folder_, "/", segment_name(number));
  auto file = files_.open(segment.path, FileSystem::OpenMode::kRead);
  if (!file.ok()) return file.status();
  segment.file = *std::move(file);
  const auto size = segment.file->size();
  if (!size.ok()) return size.status();
  if (*size == 0) return segment;
  const auto bytes = segment.file->map(*size);
  if (!bytes.ok()) return bytes.status();
  segment.file->expect(File::Access::kSequential);
  // Offsets have 32 bits: what lies behind can be no record.
  segment.bytes = {*bytes, std::min<std::uint64_t>(*size, UINT32_MAX)};
  return segment;
}

absl::Status Walk::visit(const SegmentFile& segment) {
  const auto header = find_header(segment);
  if (!header.ok()) return header.status();
  if (!*header) {
    close_damage(extent_.next_number);
    open_whole_damage(segment.path, segment.number, segment.bytes.size(),
                      "it is no log segment any more");
    return absl::OkStatus();
  }
  begin_at(segment, (*header)->first_record);
  absl::Status status = visitor_.begin(**header, segment.bytes.size());
  return status.ok() ? read_records(segment, **header) : status;
}

// Nothing if the file cannot be read as this segment. A status for one of a newer gyre.
absl::StatusOr<std::optional<SegmentHeader>> Walk::find_header(const SegmentFile& segment) {
  if (segment.bytes.size() < kSegmentHeaderBytes) return std::nullopt;
  SegmentHeaderBytes bytes;
  std::copy_n(segment.bytes.begin(), bytes.size(), bytes.begin());
  auto header = decode_segment_header(bytes);
  if (absl::IsFailedPrecondition(header.status())) {
    return absl::FailedPreconditionError(concat(segment.path, ": ", header.status().message()));
  }
  if (header.ok()) {
    if (header->number != segment.number) return std::nullopt;
    check_table(segment, *header);
    return *header;
  }
  const auto rescued = rescue_segment_header(segment.bytes, segment.number, extent_.next_number);
  if (!rescued) return std::nullopt;
  // How many records are lost is for what comes before to tell, if any are.
  DamagedStretch damage = damage_at(segment.path, segment.number, 0);
  damage.bytes = kSegmentHeaderBytes;
  damage.what = std::string(header.status().message());
  visitor_.take(damage);
  return rescued;
}

// What stands behind the records of a compacted segment. Cuts the header to what is there.
void Walk::check_table(const SegmentFile& segment, SegmentHeader& header) {
  if (!header.is_compacted()) return;
  const auto table = OffsetTable::open(segment.bytes, header);
  if (table.ok() && table->is_sound()) return;
  const auto size = static_cast<std::uint32_t>(segment.bytes.size() & ~std::uint64_t{7});
  header.records_end = std::min(header.records_end, size);
  DamagedStretch damage = damage_at(segment.path, segment.number, header.records_end);
  damage.bytes = segment.bytes.size() - header.records_end;
  damage.what = "its offset table is damaged";
  visitor_.take(damage);
}

void Walk::begin_at(const SegmentFile& segment, std::uint64_t first_record) {
  if (!open_damage_ && first_record != extent_.next_number) {
    open_damage_ = damage_at(segment.path, std::max(kFirstSegment, segment.number - 1), 0);
    open_damage_->what = concat("it begins with record ", first_record,
                                ", and the log before it ends with ", extent_.next_number);
  }
  close_damage(first_record);
  extent_.next_number = first_record;
  as_written_ = kSegmentHeaderBytes;
}

absl::Status Walk::read_records(const SegmentFile& segment, const SegmentHeader& header) {
  const ByteSpan bytes =
      header.is_compacted() ? segment.bytes.first(header.records_end) : segment.bytes;
  LogScanner::Place place{kSegmentHeaderBytes, header.first_record};
  while (true) {
    LogScanner scanner(segment.bytes, header, place.offset, place.number);
    if (absl::Status status = read_until_break(segment, scanner); !status.ok()) return status;
    if (!header.is_compacted()) as_written_ = scanner.offset();
    extent_.end = LogPosition::at(segment.number, as_written_);
    extent_.next_number = scanner.number();
    const auto next = pass_break(segment, bytes, scanner);
    if (!next) return absl::OkStatus();
    place = *next;
  }
}

absl::Status Walk::read_until_break(const SegmentFile& segment, LogScanner& scanner) {
  std::uint64_t window_end = scanner.offset();
  segment.file->read_ahead(window_end, kWindowBytes);
  for (LogRecord record;;) {
    if (scanner.offset() >= window_end) {
      segment.file->read_ahead(scanner.offset() + kWindowBytes, kWindowBytes);
      segment.file->populate(scanner.offset(), kWindowBytes);
      const std::uint64_t next_end = scanner.offset() + kWindowBytes;
      const std::uint64_t ahead = std::min<std::uint64_t>(next_end, segment.bytes.size());
      if (absl::Status status = visitor_.advance(ahead - window_end); !status.ok()) return status;
      window_end = next_end;
    }
    if (scanner.next(record) != LogScanner::Step::kRecord) return absl::OkStatus();
    as_written_ = record.position.offset();
    if (absl::Status status = visitor_.take(record); !status.ok()) return status;
  }
}

// Where the records end. The next that are whole, or nothing at the end of the segment.
std::optional<LogScanner::Place> Walk::pass_break(const SegmentFile& segment, ByteSpan records,
                                                  const LogScanner& scanner) {
  const std::uint64_t offset = scanner.offset();
  if (segment.number == last_ && extent_.end >= durable_until_) {
    const LogScanner::Remains remains = scanner.examine_remains();
    if (!remains.proof_of_damage) {
      extent_.torn_bytes = remains.bytes;
      return std::nullopt;
    }
  }
  DamagedStretch damage = damage_at(segment.path, segment.number, offset);
  damage.what = "no valid record is here";
  const auto next = scanner.find_next_record();
  if (next) {
    damage.bytes = next->offset - offset;
    damage.records = next->number - damage.first_number;
    visitor_.take(damage);
    return next;
  }
  // Zeros behind the last record are harmless, if it is the last: the next segment tells.
  const ByteSpan rest = records.subspan(offset);
  if (is_zero(rest)) damage.what.clear();
  damage.bytes = rest.size();
  open_damage_ = std::move(damage);
  return std::nullopt;
}

DamagedStretch Walk::damage_at(std::string path, std::uint32_t segment,
                               std::uint64_t offset) const {
  DamagedStretch damage;
  damage.path = std::move(path);
  damage.segment = segment;
  damage.offset = offset;
  damage.as_written = as_written_;
  damage.first_number = extent_.next_number;
  return damage;
}

void Walk::open_whole_damage(std::string path, std::uint32_t segment, std::uint64_t bytes,
                             std::string_view what) {
  open_damage_ = damage_at(std::move(path), segment, 0);
  open_damage_->bytes = bytes;
  open_damage_->is_whole_segment = true;
  open_damage_->what = what;
}

// Reports what was open, now that the number of the next record is known.
void Walk::close_damage(std::uint64_t next_number) {
  if (!open_damage_) return;
  DamagedStretch damage = *std::exchange(open_damage_, std::nullopt);
  if (next_number > damage.first_number) damage.records = next_number - damage.first_number;
  if (damage.what.empty()) {
    if (damage.records == 0) return;
    damage.what = "it has lost its end";
  }
  visitor_.take(damage);
}

}  // namespace

absl::StatusOr<LogExtent> walk_log(FileSystem& files, std::string_view folder,
                                   LogPosition durable_until, LogVisitor& visitor) {
  return Walk(files, folder, durable_until, visitor).run();
}

absl::StatusOr<std::vector<std::uint32_t>> list_segments(FileSystem& files,
                                                         std::string_view folder) {
  const auto names = files.list(folder);
  if (!names.ok()) return names.status();
  std::vector<std::uint32_t> numbers;
  for (const std::string& name : *names) {
    if (const std::uint32_t number = parse_segment_name(name); number != 0) {
      numbers.push_back(number);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

}  // namespace gyre::storage

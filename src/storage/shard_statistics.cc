#include "gyre/storage/shard_statistics.h"

#include <algorithm>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "gyre/storage/manifest.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/directory_file.h"
#include "storage/log_scanner.h"
#include "storage/log_segment.h"
#include "storage/log_walk.h"
#include "storage/offset_table.h"
#include "storage/posting_run.h"
#include "storage/record_walk.h"

namespace gyre::storage {
namespace {

constexpr int kAttempts = 5;

class Survey {
 public:
  Survey(FileSystem& files, const ShardPlace& place)
      : files_(files), folder_(place.folder), identity_(shard_identity(place.key, place.shard)) {}

  absl::StatusOr<ShardStatistics> run();

 private:
  absl::Status list_files();
  absl::Status read_manifest_and_directory();
  absl::Status count_rows();
  absl::Status count_runs(const std::vector<std::string>& names, std::uint64_t& postings);
  absl::Status read_tail();
  absl::Status read_tail_segment(std::uint32_t number, std::uint64_t& next_number);
  void take(const LogRecord& record);
  void take_retired(const std::vector<Sequence>& retired);
  void count(const DirectoryRow& row);
  void count_death(const DirectoryRow& row);
  void note_bytes(const DirectoryRow& row, std::uint64_t bytes);
  absl::Status count_compacted(ShardStatistics::Segment& segment);
  [[nodiscard]] ShardStatistics::Segment* segment(std::uint32_t number);
  [[nodiscard]] std::uint64_t end_of(std::uint32_t number) const;

  FileSystem& files_;
  const std::string folder_;
  const ShardIdentity identity_;
  Manifest manifest_;
  std::unique_ptr<DirectoryFile> directory_;
  std::vector<DirectoryRow> tail_rows_;
  // Of compacted segments, by number: the dead rows. Which of them are dropped their tables tell.
  absl::flat_hash_map<std::uint32_t, std::vector<DirectoryRow>> dead_of_compacted_;
  absl::flat_hash_set<Sequence> late_deaths_;  // Of rows of the file.
  ShardStatistics result_;
};

absl::StatusOr<ShardStatistics> Survey::run() {
  absl::Status status = list_files();
  if (status.ok()) status = read_manifest_and_directory();
  if (status.ok()) status = count_rows();
  for (ShardStatistics::Segment& segment : result_.segments) {
    if (status.ok() && segment.is_compacted) status = count_compacted(segment);
  }
  if (status.ok()) status = count_runs(manifest_.runs, result_.postings);
  if (status.ok()) status = count_runs(manifest_.dead_runs, result_.dead_postings);
  if (status.ok()) status = read_tail();
  if (!status.ok()) return status;
  result_.runs = manifest_.runs.size();
  result_.dead_runs = manifest_.dead_runs.size();
  return std::move(result_);
}

absl::Status Survey::list_files() {
  const auto numbers = list_segments(files_, folder_);
  if (!numbers.ok()) return numbers.status();
  for (const std::uint32_t number : *numbers) {
    auto file =
        files_.open(concat(folder_, "/", segment_name(number)), FileSystem::OpenMode::kRead);
    if (!file.ok()) return file.status();
    const auto size = (*file)->size();
    if (!size.ok()) return size.status();
    SegmentHeaderBytes bytes;
    if (!(*file)->read_at(0, bytes).ok()) {
      return absl::DataLossError(concat(folder_, "/", segment_name(number), " has no header"));
    }
    const auto header = decode_segment_header(bytes);
    if (!header.ok()) return header.status();
    result_.segments.push_back({number, *size, 0, header->is_compacted()});
    result_.log_bytes += *size;
  }
  return absl::OkStatus();
}

absl::Status Survey::read_manifest_and_directory() {
  auto manifest = read_manifest(files_, concat(folder_, "/manifest"), identity_);
  // An index of an older gyre says nothing; all is then read from the log.
  if (absl::IsNotFound(manifest.status()) || is_older_derived_version(manifest.status())) {
    return absl::OkStatus();
  }
  if (!manifest.ok()) return manifest.status();
  auto directory =
      DirectoryFile::open(files_, concat(folder_, "/directory"), manifest->directory_rows);
  if (is_older_derived_version(directory.status())) return absl::OkStatus();
  if (!directory.ok()) {
    return absl::DataLossError(concat(folder_, "/directory: ", directory.status().message(),
                                      "; stop gyre and run `gyre check --repair`"));
  }
  manifest_ = *std::move(manifest);
  directory_ = *std::move(directory);
  result_.directory_bytes = DirectoryFile::offset_of(manifest_.directory_rows);
  return absl::OkStatus();
}

// A row that a checkpoint is just marking dead may be seen half written, once.
absl::Status Survey::count_rows() {
  if (directory_ == nullptr) return absl::OkStatus();
  DirectoryRow previous{};
  for (Sequence sequence = 0; sequence < directory_->rows(); ++sequence) {
    DirectoryRow row;
    bool is_sound = directory_->read(sequence, row);
    for (int i = 0; !is_sound && i < kAttempts; ++i) is_sound = directory_->read(sequence, row);
    if (!is_sound) {
      return absl::DataLossError(concat(folder_, "/directory: row ", sequence,
                                        " fails its check; stop gyre and run `gyre check`"));
    }
    count(row);
    if (sequence > 0) {
      const bool is_same = previous.position.segment() == row.position.segment();
      const std::uint64_t end =
          is_same ? row.position.offset() : end_of(previous.position.segment());
      note_bytes(previous, end - std::min<std::uint64_t>(end, previous.position.offset()));
    }
    previous = row;
  }
  return absl::OkStatus();
}

absl::Status Survey::count_runs(const std::vector<std::string>& names, std::uint64_t& postings) {
  for (const std::string& name : names) {
    const auto run = PostingRun::open(files_, folder_, name);
    if (!run.ok()) return run.status();
    result_.run_bytes += (*run)->bytes();
    postings += (*run)->posting_count();
  }
  return absl::OkStatus();
}

absl::Status Survey::read_tail() {
  std::uint64_t next_number = manifest_.log_record_number;
  for (const ShardStatistics::Segment& segment : result_.segments) {
    if (segment.number < manifest_.log_position.segment()) continue;
    absl::Status status = read_tail_segment(segment.number, next_number);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// By read(), not through a mapping: a segment is cut when it is sealed, and a mapping of what was
// cut must not be touched.
absl::Status Survey::read_tail_segment(std::uint32_t number, std::uint64_t& next_number) {
  const std::string path = concat(folder_, "/", segment_name(number));
  const auto content = read_file(files_, path);
  if (absl::IsOutOfRange(content.status())) {
    return absl::UnavailableError(concat(path, " was cut while it was read; try again"));
  }
  if (!content.ok()) return content.status();
  if (content->size() < kSegmentHeaderBytes) return absl::DataLossError(path + " has no header");
  SegmentHeaderBytes bytes;
  std::copy_n(content->begin(), bytes.size(), bytes.begin());
  const auto header = decode_segment_header(bytes);
  if (!header.ok()) {
    return absl::Status(header.status().code(), concat(path, ": ", header.status().message()));
  }
  const bool is_first = number == manifest_.log_position.segment();
  const bool is_inside = is_first && !header->is_compacted();
  const std::uint32_t offset =
      is_inside ? manifest_.log_position.offset() : std::uint32_t{kSegmentHeaderBytes};
  if (is_first && header->is_compacted()) return absl::UnavailableError("a segment was compacted");
  if (offset > content->size() ||
      (header->is_compacted() && header->records_end > content->size())) {
    return absl::DataLossError(path + " has lost its end");
  }
  LogScanner scanner(as_bytes(*content), *header, offset,
                     is_first ? next_number : header->first_record);
  LogRecord record;
  while (scanner.next(record) == LogScanner::Step::kRecord) {
    ++result_.unindexed_records;
    take(record);
  }
  next_number = scanner.number();
  return absl::OkStatus();
}

void Survey::take(const LogRecord& record) {
  if (record.type == RecordType::kRetire) {
    if (const auto decoded = decode_retire_record(record.payload)) take_retired(decoded->retired);
    return;
  }
  DirectoryRow row{};
  row.position.value = record.position.value | kNoEventBit;
  row.flags = kRowDead;
  if (record.type != RecordType::kEvent) {
    // What takes rows and is no event; requests of others may make events dead here.
    if (record.type == RecordType::kForeignRequest) {
      if (const auto decoded = decode_event_record(record.payload)) take_retired(decoded->retired);
    } else if (record.type == RecordType::kAddressMark) {
      if (const auto mark = decode_address_mark(record.payload)) take_retired(mark->retired);
    }
    tail_rows_.insert(tail_rows_.end(), rows_of(record), row);
    return;
  }
  const auto decoded = decode_event_record(record.payload);
  if (!decoded) return;
  take_retired(decoded->retired);
  row.position = record.position;
  row.created_at = decoded->event.created_at();
  row.kind = decoded->event.kind();
  row.flags = 0;
  tail_rows_.push_back(row);
  count(row);
  note_bytes(row, record.end.offset() - record.position.offset());
}

void Survey::take_retired(const std::vector<Sequence>& retired) {
  for (const Sequence sequence : retired) {
    DirectoryRow row;
    if (sequence >= manifest_.directory_rows) {
      const std::uint64_t index = sequence - manifest_.directory_rows;
      if (index >= tail_rows_.size()) continue;
      DirectoryRow& tail_row = tail_rows_[index];
      if ((tail_row.flags & kRowDead) == 0) count_death(tail_row);
      tail_row.flags |= kRowDead;
    } else if (directory_->read(sequence, row) && (row.flags & kRowDead) == 0 &&
               late_deaths_.insert(sequence).second) {
      count_death(row);
    }
  }
}

void Survey::count(const DirectoryRow& row) {
  if (!is_row_of_event(row)) return;
  const auto* const place = segment(row.position.segment());
  if (place != nullptr && place->is_compacted && (row.flags & kRowDead) != 0) {
    dead_of_compacted_[place->number].push_back(row);
    return;
  }
  AliveAndDead& kind = result_.kinds[row.kind];
  if ((row.flags & kRowDead) != 0) {
    ++kind.dead;
    ++result_.events.dead;
    return;
  }
  ++kind.alive;
  ++result_.events.alive;
  result_.oldest_created_at =
      std::min(row.created_at, result_.oldest_created_at.value_or(row.created_at));
  result_.newest_created_at =
      std::max(row.created_at, result_.newest_created_at.value_or(row.created_at));
}

void Survey::count_death(const DirectoryRow& row) {
  AliveAndDead& kind = result_.kinds[row.kind];
  --kind.alive;
  ++kind.dead;
  --result_.events.alive;
  ++result_.events.dead;
}

void Survey::note_bytes(const DirectoryRow& row, std::uint64_t bytes) {
  if ((row.flags & kRowDead) == 0) return;
  auto* const found = segment(row.position.segment());
  if (found != nullptr && !found->is_compacted) {
    found->dead_bytes = std::min(found->bytes, found->dead_bytes + bytes);
  }
}

// Both the rows and the pairs of the table ascend by the offset as first written.
absl::Status Survey::count_compacted(ShardStatistics::Segment& segment) {
  const std::vector<DirectoryRow>& dead = dead_of_compacted_[segment.number];
  const auto content = read_file(files_, concat(folder_, "/", segment_name(segment.number)));
  if (!content.ok()) return content.status();
  SegmentHeaderBytes bytes;
  if (content->size() < bytes.size()) return absl::UnavailableError("a segment was replaced");
  std::copy_n(content->begin(), bytes.size(), bytes.begin());
  const auto header = decode_segment_header(bytes);
  if (!header.ok()) return header.status();
  const auto table = OffsetTable::open(as_bytes(*content), *header);
  if (!table.ok()) return table.status();
  std::uint32_t at = 0;
  for (const DirectoryRow& row : dead) {
    while (at < table->size() && table->pair(at).as_written < row.position.offset()) ++at;
    if (at == table->size() || table->pair(at).as_written != row.position.offset()) {
      ++result_.dropped_events;
      continue;
    }
    const std::uint32_t begin = table->pair(at).in_file;
    const std::uint32_t end =
        at + 1 < table->size() ? table->pair(at + 1).in_file : header->records_end;
    segment.dead_bytes += end - std::min(begin, end);
    ++result_.kinds[row.kind].dead;
    ++result_.events.dead;
  }
  return absl::OkStatus();
}

ShardStatistics::Segment* Survey::segment(std::uint32_t number) {
  const std::uint32_t index = number - kFirstSegment;
  return index < result_.segments.size() ? &result_.segments[index] : nullptr;
}

std::uint64_t Survey::end_of(std::uint32_t number) const {
  const std::uint32_t index = number - kFirstSegment;
  return index < result_.segments.size() ? result_.segments[index].bytes : 0;
}

}  // namespace

absl::StatusOr<ShardStatistics> survey_shard(FileSystem& files, const ShardPlace& place) {
  absl::Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    auto result = Survey(files, place).run();
    // A run that was merged into another, or a segment that was sealed at this moment.
    const bool is_passing =
        absl::IsNotFound(result.status()) || absl::IsUnavailable(result.status());
    if (!is_passing) return result;
    status = result.status();
  }
  return absl::UnavailableError(concat(
      "the relay changes the store too fast to be looked at; try again (", status.message(), ")"));
}

}  // namespace gyre::storage

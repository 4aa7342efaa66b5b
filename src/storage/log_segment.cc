#include "storage/log_segment.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "gyre/base/ids.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::string_view kPrefix = "log-";
constexpr std::string_view kSuffix = ".seg";
constexpr std::string_view kUnfinishedSuffix = ".tmp";
constexpr std::uint64_t kReserveBytesMin = 64 * kKiB;
// A mapping of this little would take a page of the cache and a descriptor besides.
constexpr std::uint64_t kCopiedBytesMax = 4 * kKiB;

std::string path_of(const LogSegment::Place& place, std::uint32_t number) {
  return concat(place.directory, "/", segment_name(number));
}

std::string unfinished_path_of(const LogSegment::Place& place, std::uint32_t number) {
  return concat(place.directory, "/", unfinished_segment_name(number));
}

// Folders that have been swapped or mixed up are noticed here, before anything is made of them.
absl::Status check_owner(const SegmentHeader& header, const ShardIdentity& owner) {
  if (header.version == kLogVersionWithoutOwner || header.owner == owner) return absl::OkStatus();
  if (header.owner.store != owner.store) {
    return absl::DataLossError(
        "it belongs to another store than the file gyre-store; put back the folder as it was, or "
        "restore a whole backup");
  }
  return absl::DataLossError(concat("it belongs to shard ", header.owner.shard,
                                    " and stands in the place of shard ", owner.shard,
                                    "; give the shard folders their own names back"));
}

}  // namespace

std::string segment_name(std::uint32_t number) {
  return concat(kPrefix, zero_padded(number, 8), kSuffix);
}

std::string unfinished_segment_name(std::uint32_t number) {
  return concat(segment_name(number), kUnfinishedSuffix);
}

std::uint32_t parse_segment_name(std::string_view name) {
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return 0;
  const std::string_view digits =
      name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
  std::uint32_t number = 0;
  // Only what segment_name() makes: no other text may stand for the same number.
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return segment_name(number) == name ? number : 0;
}

bool is_unfinished_segment_name(std::string_view name) {
  if (!name.ends_with(kUnfinishedSuffix)) return false;
  name.remove_suffix(kUnfinishedSuffix.size());
  return parse_segment_name(name) != 0;
}

bool is_out_of_resources(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status);
}

absl::StatusOr<std::uint64_t> reserve_what_fits(File& file, std::uint64_t offset,
                                                std::uint64_t bytes) {
  const std::uint64_t bytes_min = std::min(bytes, kReserveBytesMin);
  for (; bytes >= bytes_min; bytes /= 2) {
    const absl::Status status = file.allocate(offset, bytes);
    if (status.ok()) return bytes;
    if (!absl::IsResourceExhausted(status)) return status;
  }
  return 0;
}

ByteSpan payload_at(const LogSegment& segment, std::uint32_t offset) {
  const std::optional<std::uint32_t> at = segment.find(offset);
  if (!at) return {};
  const std::uint8_t* const record = segment.bytes() + *at;
  const std::uint64_t bytes = decode_record_header(record).payload_bytes;
  const bool fits = segment.offset_table() == nullptr ||
                    kRecordHeaderBytes + bytes <= segment.header().records_end - *at;
  return fits ? ByteSpan(record + kRecordHeaderBytes, bytes) : ByteSpan();
}

LogSegment::LogSegment(const SegmentHeader& header, std::unique_ptr<File> file)
    : header_(header), seed_(record_seed(header.id)), file_(std::move(file)) {}

absl::StatusOr<std::unique_ptr<LogSegment>> LogSegment::prepare(const Place& place,
                                                                std::uint32_t number,
                                                                std::uint64_t id,
                                                                std::uint64_t map_bytes,
                                                                std::uint64_t reserve_bytes) {
  const std::string path = unfinished_path_of(place, number);
  auto file = place.files.open(path, FileSystem::OpenMode::kCreateNew);
  if (!file.ok()) return file.status();
  SegmentHeader header{number, id, 0};
  header.owner = place.owner;
  std::unique_ptr<LogSegment> segment(new LogSegment(header, *std::move(file)));

  absl::Status status;
  const auto reserved = reserve_what_fits(*segment->file_, 0, std::min(reserve_bytes, map_bytes));
  if (!reserved.ok()) {
    status = reserved.status();
  } else if (*reserved == 0) {
    status = absl::ResourceExhaustedError(concat("no space for ", path));
  } else if (const auto bytes = segment->file_->map(map_bytes); !bytes.ok()) {
    status = bytes.status();
  } else {
    segment->bytes_ = *bytes;
    segment->reserved_end_ = *reserved;
    return segment;
  }
  place.files.remove(path).IgnoreError();
  return status;
}

absl::StatusOr<std::unique_ptr<LogSegment>> LogSegment::open(const Place& place,
                                                             std::uint32_t number,
                                                             std::uint64_t map_bytes) {
  return open_path(place, path_of(place, number), number, map_bytes);
}

absl::StatusOr<std::unique_ptr<LogSegment>> LogSegment::open_unfinished(const Place& place,
                                                                        std::uint32_t number) {
  return open_path(place, unfinished_path_of(place, number), number, 0);
}

absl::StatusOr<std::unique_ptr<LogSegment>> LogSegment::open_path(const Place& place,
                                                                  const std::string& path,
                                                                  std::uint32_t number,
                                                                  std::uint64_t map_bytes) {
  const auto annotate = [&](const absl::Status& status) {
    return absl::Status(status.code(), concat("cannot use ", path, ": ", status.message()));
  };
  auto file = place.files.open(path, FileSystem::OpenMode::kReadWrite);
  if (!file.ok()) return file.status();
  SegmentHeaderBytes header_bytes;
  absl::Status status = (*file)->read_at(0, header_bytes);
  if (absl::IsOutOfRange(status)) status = absl::DataLossError("it is too short for its header");
  if (!status.ok()) return annotate(status);
  const auto header = decode_segment_header(header_bytes);
  if (!header.ok()) return annotate(header.status());
  if (header->number != number) {
    return annotate(
        absl::DataLossError(concat("its header says that it is segment ", header->number)));
  }
  if (status = check_owner(*header, place.owner); !status.ok()) return annotate(status);
  std::unique_ptr<LogSegment> segment(new LogSegment(*header, *std::move(file)));
  if (status = segment->attach(map_bytes); !status.ok()) return annotate(status);
  return segment;
}

absl::Status LogSegment::attach(std::uint64_t map_bytes) {
  const auto size = file_->size();
  if (!size.ok()) return size.status();
  file_bytes_ = *size;
  if (header_.is_compacted() && file_bytes_ <= kCopiedBytesMax) {
    copy_.resize(file_bytes_);
    if (absl::Status status = file_->read_at(0, copy_); !status.ok()) return status;
    bytes_ = copy_.data();
    file_.reset();
  } else {
    const auto bytes = file_->map(std::max(map_bytes, file_bytes_));
    if (!bytes.ok()) return bytes.status();
    bytes_ = *bytes;
  }
  if (!header_.is_compacted()) return absl::OkStatus();
  auto table = OffsetTable::open(file_span(), header_);
  if (!table.ok()) return table.status();
  table_ = *std::move(table);
  return absl::OkStatus();
}

std::optional<std::uint32_t> LogSegment::find_in_compacted(std::uint32_t offset) const {
  const std::optional<std::uint32_t> at = table_->find(offset);
  if (!at || *at < kSegmentHeaderBytes || *at % kRecordAlignment != 0) return std::nullopt;
  if (std::uint64_t{*at} + kRecordHeaderBytes > header_.records_end) return std::nullopt;
  return at;
}

absl::Status LogSegment::begin(const Place& place) {
  if (!is_named_) {
    const SegmentHeaderBytes bytes = encode_segment_header(header_);
    const ByteSpan part = bytes;
    if (absl::Status status = file_->write_at(0, {&part, 1}); !status.ok()) return status;
    if (absl::Status status = file_->sync_data(); !status.ok()) return status;
    absl::Status status = place.files.rename(unfinished_path_of(place, header_.number),
                                             path_of(place, header_.number));
    if (!status.ok()) return status;
    is_named_ = true;
  }
  return place.files.sync_directory(place.directory);
}

absl::Status LogSegment::seal(std::uint64_t used_bytes) {
  if (absl::Status status = file_->truncate(used_bytes); !status.ok()) return status;
  return file_->sync_data();
}

absl::Status LogSegment::discard(const Place& place) {
  return place.files.remove(unfinished_path_of(place, header_.number));
}

}  // namespace gyre::storage

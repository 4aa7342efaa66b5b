#include "storage/log_backup.h"

#include <algorithm>
#include <memory>

#include "gyre/base/ids.h"
#include "storage/concat.h"
#include "storage/log_scanner.h"
#include "storage/log_segment.h"
#include "storage/log_walk.h"
#include "storage/offset_table.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kCompareBytes = kMiB;

absl::Status damaged(const std::string& path, std::uint64_t offset) {
  return absl::DataLossError(concat(path, " is damaged at offset ", offset,
                                    ": no valid record is here; stop gyre and run `gyre check`"));
}

}  // namespace

std::string LogBackup::path_of(const std::string& folder, std::uint32_t number) const {
  return concat(folder, "/", segment_name(number));
}

absl::StatusOr<LogBackup::Segment> LogBackup::look(const std::string& folder,
                                                   std::uint32_t number) const {
  Segment segment{number, 0, std::vector<std::uint8_t>(kSegmentHeaderBytes)};
  const std::string path = path_of(folder, number);
  auto file = files_.open(path, FileSystem::OpenMode::kRead);
  if (!file.ok()) return file.status();
  const auto size = (*file)->size();
  if (!size.ok()) return size.status();
  segment.size = *size;
  absl::Status status = (*file)->read_at(0, segment.header);
  if (absl::IsOutOfRange(status)) return damaged(path, 0);
  if (!status.ok()) return status;
  return segment;
}

absl::Status LogBackup::check_target() const {
  const auto numbers = list_segments(files_, backup_.to);
  if (!numbers.ok()) return numbers.status();
  if (numbers->empty()) return absl::OkStatus();
  const std::uint32_t last = numbers->back();
  const auto copied = look(backup_.to, last);
  if (!copied.ok()) return copied.status();
  const auto original = look(backup_.from, last);
  if (!original.ok() && !absl::IsNotFound(original.status())) return original.status();
  bool is_older = original.ok();
  // A compacted segment is another file, with the same history.
  if (is_older && original->header == copied->header) {
    const auto is_beginning = begins_with(*original, *copied);
    if (!is_beginning.ok()) return is_beginning.status();
    is_older = *is_beginning;
  }
  if (is_older) return absl::OkStatus();
  return absl::FailedPreconditionError(
      concat(path_of(backup_.to, last),
             " holds what the store does not: the copy has been used as a store, or the store was "
             "put back to an older state. Choose another folder"));
}

absl::StatusOr<bool> LogBackup::begins_with(const Segment& whole, const Segment& part) const {
  if (part.size > whole.size) return false;
  auto left = files_.open(path_of(backup_.from, whole.number), FileSystem::OpenMode::kRead);
  if (!left.ok()) return left.status();
  auto right = files_.open(path_of(backup_.to, part.number), FileSystem::OpenMode::kRead);
  if (!right.ok()) return right.status();
  std::vector<std::uint8_t> a(kCompareBytes);
  std::vector<std::uint8_t> b(kCompareBytes);
  for (std::uint64_t offset = 0; offset < part.size; offset += kCompareBytes) {
    const std::uint64_t bytes = std::min(kCompareBytes, part.size - offset);
    absl::Status status = (*left)->read_at(offset, {a.data(), bytes});
    if (status.ok()) status = (*right)->read_at(offset, {b.data(), bytes});
    if (absl::IsOutOfRange(status)) return false;
    if (!status.ok()) return status;
    if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(bytes), b.begin())) {
      return false;
    }
  }
  return true;
}

absl::Status LogBackup::copy(const std::function<absl::Status()>& before_replacing) {
  const auto numbers = list_segments(files_, backup_.from);
  if (!numbers.ok()) return numbers.status();
  const auto copied = list_segments(files_, backup_.to);
  if (!copied.ok()) return copied.status();
  last_ = numbers->empty() ? 0 : numbers->back();
  last_copied_ = copied->empty() ? 0 : copied->back();
  for (const std::uint32_t number : *numbers) {
    // The last one of the older backup may have been unfinished.
    if (number < last_copied_) {
      const auto original = look(backup_.from, number);
      if (!original.ok()) return original.status();
      const auto kept = look(backup_.to, number);
      if (kept.ok() && kept->header == original->header && kept->size == original->size) {
        report_.kept_bytes += kept->size;
        if (absl::Status status = backup_.advance(kept->size); !status.ok()) return status;
        continue;
      }
      if (absl::Status status = before_replacing(); !status.ok()) return status;
    }
    if (absl::Status status = copy_segment(number); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status LogBackup::copy_segment(std::uint32_t number) {
  const std::string target = path_of(backup_.to, number);
  const std::string unfinished = concat(target, ".tmp");
  if (files_.exists(unfinished)) {
    if (absl::Status status = files_.remove(unfinished); !status.ok()) return status;
  }
  absl::Status status = files_.copy(path_of(backup_.from, number), unfinished, backup_.advance);
  if (!status.ok()) return status;
  const auto end = verify(unfinished, number);
  if (!end.ok()) return end.status();
  auto file = files_.open(unfinished, FileSystem::OpenMode::kReadWrite);
  if (!file.ok()) return file.status();
  if (number == last_) status = (*file)->truncate(*end);
  if (status.ok()) status = (*file)->sync_data();
  if (status.ok()) status = files_.rename(unfinished, target);
  if (status.ok()) status = files_.sync_directory(backup_.to);
  report_.copied_bytes += *end;
  return status;
}

absl::StatusOr<std::uint64_t> LogBackup::verify(const std::string& path, std::uint32_t number) {
  const std::string original = path_of(backup_.from, number);
  auto file = files_.open(path, FileSystem::OpenMode::kRead);
  if (!file.ok()) return file.status();
  const auto size = (*file)->size();
  if (!size.ok()) return size.status();
  if (*size < kSegmentHeaderBytes || *size > UINT32_MAX) return damaged(original, 0);
  const auto bytes = (*file)->map(*size);
  if (!bytes.ok()) return bytes.status();
  (*file)->expect(File::Access::kSequential);
  SegmentHeaderBytes header_bytes;
  std::copy_n(*bytes, header_bytes.size(), header_bytes.begin());
  const auto header = decode_segment_header(header_bytes);
  if (absl::IsFailedPrecondition(header.status())) {
    return absl::FailedPreconditionError(concat(original, ": ", header.status().message()));
  }
  if (!header.ok() || header->number != number) return damaged(original, 0);
  if (header->is_compacted()) {
    const auto table = OffsetTable::open({*bytes, *size}, *header);
    if (!table.ok() || !table->is_sound()) return damaged(original, header->records_end);
  }
  const std::uint64_t records_end = header->is_compacted() ? header->records_end : *size;

  LogScanner scanner({*bytes, *size}, *header, kSegmentHeaderBytes, header->first_record);
  LogRecord record;
  while (scanner.next(record) == LogScanner::Step::kRecord) {
  }
  report_.records = scanner.number();
  // All but the last segment were sealed before the copying began, and so must be whole. What is
  // behind the end of the last one may have been in the middle of being written.
  if (number == last_) return scanner.offset();
  if (scanner.offset() != records_end) return damaged(original, scanner.offset());
  return *size;
}

}  // namespace gyre::storage

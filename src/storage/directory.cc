#include "gyre/storage/directory.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "gyre/base/assert.h"
#include "gyre/base/ids.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/directory_format.h"
#include "storage/little_endian.h"

namespace gyre::storage {
namespace {

using Deaths = absl::flat_hash_map<Sequence, std::uint16_t>;  // To the dead row's flags.

std::uint16_t flags_of(DeathCause cause) {
  return cause == DeathCause::kSuperseded ? kRowDead | kRowSuperseded : kRowDead;
}

// A mapping is made with as much room as it has rows, so that few checkpoints need a new one.
constexpr std::uint64_t kMappedBytesMin = 16 * kMiB;
// The file grows in steps, so that few checkpoints change its length.
constexpr std::uint64_t kGrowthBytes = 2 * kMiB;
constexpr std::size_t kRowsPerWrite = 4096;
// What is brought into memory at a time: some milliseconds of a disk.
constexpr std::uint64_t kKeepStepBytes = 4 * kMiB;

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return path.substr(0, std::max<std::size_t>(slash, 1));
}

absl::StatusOr<std::unique_ptr<File>> create_file(FileSystem& files, std::string_view path) {
  auto created = files.open(path, FileSystem::OpenMode::kCreateNew);
  if (!created.ok()) return created.status();
  if (absl::Status status = files.sync_directory(parent_of(path)); !status.ok()) return status;
  return created;
}

absl::Status write_header(File& file) {
  const DirectoryHeaderBytes header = directory_header();
  const ByteSpan part = header;
  if (absl::Status status = file.write_at(0, {&part, 1}); !status.ok()) return status;
  return file.sync_data();
}

// A mapping of the file, and the File that it lives with.
struct Reader {
  std::shared_ptr<const File> file;
  const std::uint8_t* bytes = nullptr;
  std::uint64_t mapped_bytes = 0;
};

absl::StatusOr<Reader> open_reader(FileSystem& files, std::string_view path,
                                   std::uint64_t file_bytes) {
  Reader reader;
  auto file = files.open(path, FileSystem::OpenMode::kRead);
  if (!file.ok()) return file.status();
  reader.mapped_bytes = std::max(kMappedBytesMin, 2 * file_bytes);
  const auto bytes = (*file)->map(reader.mapped_bytes);
  if (!bytes.ok()) return bytes.status();
  reader.bytes = *bytes;
  reader.file = *std::move(file);
  return reader;
}

// Whether the file may be believed as far as `checkpointed_rows`; a file of no rows gets its header
// if it has none, for a crash just after creation leaves that.
absl::Status check_file(File& file, std::string_view path, Sequence checkpointed_rows) {
  DirectoryHeaderBytes header{};
  const bool has_header = file.read_at(0, header).ok();
  if (!has_header || header != directory_header()) {
    if (checkpointed_rows == 0) return write_header(file);
    const std::uint32_t version = load_u32(&header[8]);
    // Before the checksum: another version may keep that elsewhere.
    if (std::equal(header.begin(), header.begin() + 8, directory_header().begin()) &&
        version != kDirectoryVersion) {
      return derived_version_error(path, version, kDirectoryVersion);
    }
    return absl::DataLossError(concat(path, ": damaged header; ", kRebuildCure));
  }
  const auto size = file.size();
  if (!size.ok()) return size.status();
  if (checkpointed_rows != 0 && *size < directory_row_offset(checkpointed_rows)) {
    return absl::DataLossError(concat(path, ": holds fewer than the ", checkpointed_rows,
                                      " rows of the last checkpoint; ", kRebuildCure));
  }
  return absl::OkStatus();
}

}  // namespace

struct Directory::Impl {
  [[nodiscard]] Sequence active_first() const {
    return checkpointed_rows + static_cast<Sequence>(frozen.rows.size());
  }
  // The flags of a row outside `active` whose death is not in its own flags yet; null if there is
  // none such.
  [[nodiscard]] const std::uint16_t* flags_of_death(Sequence sequence) const;
  [[nodiscard]] DirectoryRow file_row(Sequence sequence) const;
  [[nodiscard]] DirectoryRow row_as_written(Sequence sequence) const;
  [[nodiscard]] absl::Status reserve(std::uint64_t end);
  [[nodiscard]] absl::Status write_rows(const DirectoryDelta& delta);
  [[nodiscard]] absl::Status prepare_reading(const DirectoryDelta& delta);
  [[nodiscard]] absl::Status write_death(const DirectoryDelta::Death& death);
  void note_what_to_keep();

  FileSystem* files = nullptr;
  std::string path;
  Reader reader;

  // The worker's. A reader of more room waits here until drop_frozen().
  std::unique_ptr<File> file;
  std::uint64_t file_bytes = 0;
  Reader next_reader;
  std::uint64_t resident_bytes = 0;  // Of what was in the file at the start.
  std::uint64_t bytes_at_start = 0;

  // What the keeper's thread populates: of `reader`, as of the last checkpoint.
  std::mutex kept_mutex;
  std::shared_ptr<const File> kept_file;
  std::uint64_t kept_bytes = 0;

  Sequence checkpointed_rows = 0;
  bool has_frozen = false;
  DirectoryDelta frozen;
  Deaths frozen_deaths;  // frozen.deaths, with flags.
  std::vector<DirectoryRow> active;
  Deaths active_deaths;  // Since the freeze, of rows before `active`.
};

Directory::Directory() : impl_(std::make_unique<Impl>()) {}
Directory::~Directory() = default;

absl::StatusOr<std::unique_ptr<Directory>> Directory::open(FileSystem& files, std::string_view path,
                                                           Sequence checkpointed_rows) {
  const bool is_new = !files.exists(path);
  if (is_new && checkpointed_rows != 0) {
    return absl::DataLossError(concat(path, ": missing; ", kRebuildCure));
  }
  auto file =
      is_new ? create_file(files, path) : files.open(path, FileSystem::OpenMode::kReadWrite);
  if (!file.ok()) return file.status();
  if (absl::Status status = check_file(**file, path, checkpointed_rows); !status.ok()) {
    return status;
  }
  const auto size = (*file)->size();
  if (!size.ok()) return size.status();
  auto reader = open_reader(files, path, *size);
  if (!reader.ok()) return reader.status();
  std::unique_ptr<Directory> directory(new Directory);
  Impl& impl = *directory->impl_;
  impl.files = &files;
  impl.path = path;
  impl.file = *std::move(file);
  impl.reader = *std::move(reader);
  impl.file_bytes = *size;
  impl.checkpointed_rows = checkpointed_rows;
  impl.bytes_at_start = directory_row_offset(checkpointed_rows);
  impl.note_what_to_keep();
  return directory;
}

Sequence Directory::next_sequence() const {
  return impl_->active_first() + static_cast<Sequence>(impl_->active.size());
}

DirectoryRow Directory::row(Sequence sequence) const {
  const Impl& impl = *impl_;
  const Sequence active_first = impl.active_first();
  if (sequence >= active_first) {
    GYRE_ASSERT_CMP(sequence - active_first, <, impl.active.size());
    return impl.active[sequence - active_first];
  }
  if (sequence < impl.checkpointed_rows) return impl.file_row(sequence);
  DirectoryRow row = impl.frozen.rows[sequence - impl.checkpointed_rows];
  if (const std::uint16_t* flags = impl.flags_of_death(sequence)) row.flags = *flags;
  return row;
}

bool Directory::is_dead(Sequence sequence) const { return (row(sequence).flags & kRowDead) != 0; }

void Directory::prefetch(Sequence sequence) const {
  const Impl& impl = *impl_;
  const Sequence active_first = impl.active_first();
  if (sequence >= active_first) {
    GYRE_ASSERT_CMP(sequence - active_first, <, impl.active.size());
    __builtin_prefetch(&impl.active[sequence - active_first]);
  } else if (sequence < impl.checkpointed_rows) {
    __builtin_prefetch(impl.reader.bytes + directory_row_offset(sequence));
  } else {
    __builtin_prefetch(&impl.frozen.rows[sequence - impl.checkpointed_rows]);
  }
}

Sequence Directory::append(const DirectoryRow& row) {
  const Sequence sequence = next_sequence();
  GYRE_ASSERT_CMP(sequence, <, kSequenceMax);
  GYRE_ASSERT((row.flags & ~kRowFlagsMask) == 0);
  impl_->active.push_back(row);
  return sequence;
}

void Directory::mark_dead(Sequence sequence, DeathCause cause) {
  Impl& impl = *impl_;
  GYRE_ASSERT_CMP(sequence, <, next_sequence());
  const std::uint16_t flags = row(sequence).flags;
  if ((flags & kRowDead) != 0) return;
  const auto dead_flags = static_cast<std::uint16_t>(flags | flags_of(cause));
  const Sequence active_first = impl.active_first();
  if (sequence >= active_first) {
    impl.active[sequence - active_first].flags = dead_flags;
  } else {
    impl.active_deaths.emplace(sequence, dead_flags);
  }
}

void Directory::mark_superseded(Sequence sequence) {
  Impl& impl = *impl_;
  const std::uint16_t flags = row(sequence).flags;
  GYRE_ASSERT((flags & kRowDead) != 0);
  const auto superseded = static_cast<std::uint16_t>(flags | kRowSuperseded);
  const Sequence active_first = impl.active_first();
  if (sequence >= active_first) {
    impl.active[sequence - active_first].flags = superseded;
  } else {
    impl.active_deaths.insert_or_assign(sequence, superseded);
  }
}

const DirectoryDelta& Directory::freeze() {
  Impl& impl = *impl_;
  GYRE_ASSERT(!impl.has_frozen);
  impl.has_frozen = true;
  impl.frozen.first = impl.checkpointed_rows;
  impl.frozen.rows = std::exchange(impl.active, {});
  impl.active.reserve(impl.frozen.rows.size());
  impl.frozen_deaths = std::exchange(impl.active_deaths, {});
  impl.frozen.deaths.clear();
  impl.frozen.deaths.reserve(impl.frozen_deaths.size());
  for (const auto& [sequence, flags] : impl.frozen_deaths) {
    impl.frozen.deaths.push_back({sequence, flags});
  }
  std::sort(impl.frozen.deaths.begin(), impl.frozen.deaths.end(),
            [](const DirectoryDelta::Death& left, const DirectoryDelta::Death& right) {
              return left.sequence < right.sequence;
            });
  return impl.frozen;
}

// Runs in the worker's thread while the shard reads. No byte that is written here is read by the
// shard at that time:
// - the new rows lie at or above checkpointed_rows, where the shard reads memory until
// drop_frozen();
// - of an old row only the two bytes of its flags are rewritten, and while the death is in
//   frozen_deaths the shard takes the flags from there and leaves those in the mapping alone.
// What it keeps for itself (file_bytes, next_reader) the shard does not look at before
// drop_frozen(), and the message that brings the result to the shard orders all this before that.
absl::Status Directory::write(const DirectoryDelta& delta) {
  Impl& impl = *impl_;
  const auto end = delta.first + static_cast<Sequence>(delta.rows.size());
  if (absl::Status status = impl.reserve(directory_row_offset(end)); !status.ok()) return status;
  if (absl::Status status = impl.write_rows(delta); !status.ok()) return status;
  for (const DirectoryDelta::Death& death : delta.deaths) {
    GYRE_ASSERT_CMP(death.sequence, <, delta.first);
    if (absl::Status status = impl.write_death(death); !status.ok()) return status;
  }
  if (absl::Status status = impl.file->sync_data(); !status.ok()) return status;
  return impl.prepare_reading(delta);
}

void Directory::drop_frozen() {
  Impl& impl = *impl_;
  GYRE_ASSERT(impl.has_frozen);
  if (impl.next_reader.file != nullptr) impl.reader = std::exchange(impl.next_reader, {});
  GYRE_ASSERT_CMP(directory_row_offset(impl.active_first()), <=, impl.reader.mapped_bytes);
  impl.checkpointed_rows = impl.active_first();
  impl.frozen = {};
  impl.frozen_deaths = {};
  impl.has_frozen = false;
  impl.note_what_to_keep();
}

void Directory::keep_in_memory(const std::atomic<bool>& is_stopping) const {
  std::shared_ptr<const File> file;
  std::uint64_t bytes = 0;
  {
    const std::lock_guard lock(impl_->kept_mutex);
    file = impl_->kept_file;
    bytes = impl_->kept_bytes;
  }
  for (std::uint64_t offset = 0; offset < bytes && !is_stopping.load(std::memory_order_relaxed);
       offset += kKeepStepBytes) {
    const std::uint64_t step = std::min(kKeepStepBytes, bytes - offset);
    // Asked for as a whole first: faults on a mapping of random access read page by page.
    file->read_ahead(offset, step);
    file->populate(offset, step);
  }
}

void Directory::Impl::note_what_to_keep() {
  const std::lock_guard lock(kept_mutex);
  kept_file = reader.file;
  kept_bytes = directory_row_offset(checkpointed_rows);
}

bool Directory::keep_resident(std::uint64_t budget, Residence& residence) {
  Impl& impl = *impl_;
  if (impl.resident_bytes >= impl.bytes_at_start) return true;
  const std::uint64_t bytes = std::min(budget, impl.bytes_at_start - impl.resident_bytes);
  residence.add(bytes, impl.reader.file->keep_resident(impl.resident_bytes, bytes));
  impl.resident_bytes += bytes;
  return impl.resident_bytes >= impl.bytes_at_start;
}

DirectoryRow Directory::checkpointed_row(Sequence sequence) const {
  return impl_->row_as_written(sequence);
}

const std::uint16_t* Directory::Impl::flags_of_death(Sequence sequence) const {
  for (const Deaths* deaths : {&active_deaths, &frozen_deaths}) {
    if (deaths->empty()) continue;
    const auto found = deaths->find(sequence);
    if (found != deaths->end()) return &found->second;
  }
  return nullptr;
}

DirectoryRow Directory::Impl::file_row(Sequence sequence) const {
  const std::uint16_t* const flags = flags_of_death(sequence);
  if (flags == nullptr) return row_as_written(sequence);
  // The worker may be writing the flags, and the check in them: see write().
  DirectoryRow row;
  std::memcpy(static_cast<void*>(&row), reader.bytes + directory_row_offset(sequence),
              offsetof(DirectoryRow, flags));
  row.flags = *flags;
  return row;
}

DirectoryRow Directory::Impl::row_as_written(Sequence sequence) const {
  DirectoryRow row;
  std::memcpy(&row, reader.bytes + directory_row_offset(sequence), sizeof row);
  if (!open_directory_row(row)) stop_for_corruption(path, "a directory row fails its check");
  return row;
}

absl::Status Directory::Impl::reserve(std::uint64_t end) {
  if (end <= file_bytes) return absl::OkStatus();
  const std::uint64_t bytes = (end - file_bytes + kGrowthBytes - 1) / kGrowthBytes * kGrowthBytes;
  if (absl::Status status = file->allocate(file_bytes, bytes); !status.ok()) return status;
  file_bytes += bytes;
  return absl::OkStatus();
}

absl::Status Directory::Impl::write_rows(const DirectoryDelta& delta) {
  std::vector<DirectoryRow> sealed;
  for (std::size_t begin = 0; begin < delta.rows.size(); begin += sealed.size()) {
    const std::size_t count = std::min(kRowsPerWrite, delta.rows.size() - begin);
    const auto first = delta.rows.begin() + static_cast<std::ptrdiff_t>(begin);
    sealed.assign(first, first + static_cast<std::ptrdiff_t>(count));
    for (DirectoryRow& row : sealed) seal_directory_row(row);
    const ByteSpan part(reinterpret_cast<const std::uint8_t*>(sealed.data()),
                        count * sizeof(DirectoryRow));
    const auto sequence = delta.first + static_cast<Sequence>(begin);
    const absl::Status status = file->write_at(directory_row_offset(sequence), {&part, 1});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// So that the shard meets no page fault in the new rows.
absl::Status Directory::Impl::prepare_reading(const DirectoryDelta& delta) {
  const std::uint64_t begin = directory_row_offset(delta.first);
  const std::uint64_t bytes = delta.rows.size() * sizeof(DirectoryRow);
  if (begin + bytes <= reader.mapped_bytes) {
    // Whatever it says: the rows are in memory, and the start has told what the limits are.
    reader.file->keep_resident(begin, bytes).IgnoreError();
    return absl::OkStatus();
  }
  auto opened = open_reader(*files, path, begin + bytes);
  if (!opened.ok()) return opened.status();
  opened->file->keep_resident(0, begin + bytes).IgnoreError();
  resident_bytes = begin + bytes;
  next_reader = *std::move(opened);
  return absl::OkStatus();
}

absl::Status Directory::Impl::write_death(const DirectoryDelta::Death& death) {
  // The worker alone writes the file, so it may read through the mapping what it likes.
  const Sequence sequence = death.sequence;
  DirectoryRow row = row_as_written(sequence);
  row.flags |= death.flags;
  seal_directory_row(row);
  const ByteSpan part(reinterpret_cast<const std::uint8_t*>(&row.flags), sizeof row.flags);
  return file->write_at(directory_row_offset(sequence) + offsetof(DirectoryRow, flags), {&part, 1});
}

}  // namespace gyre::storage

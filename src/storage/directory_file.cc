#include "storage/directory_file.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/directory_format.h"
#include "storage/little_endian.h"

namespace gyre::storage {

absl::StatusOr<std::unique_ptr<DirectoryFile>> DirectoryFile::open(FileSystem& files,
                                                                   std::string_view path,
                                                                   Sequence rows) {
  std::unique_ptr<DirectoryFile> directory(new DirectoryFile);
  directory->rows_ = rows;
  auto file = files.open(path, FileSystem::OpenMode::kRead);
  if (absl::IsNotFound(file.status())) return absl::DataLossError("it is missing");
  if (!file.ok()) return file.status();
  DirectoryHeaderBytes header{};
  if (!(*file)->read_at(0, header).ok()) return absl::DataLossError("it has no header");
  if (header != directory_header()) {
    const std::uint32_t version = load_u32(&header[8]);
    const DirectoryHeaderBytes known = directory_header();
    if (std::equal(header.begin(), header.begin() + 8, known.begin()) &&
        version != kDirectoryVersion) {
      return derived_version_error(path, version, kDirectoryVersion);
    }
    return absl::DataLossError("its header is damaged");
  }
  const auto size = (*file)->size();
  if (!size.ok()) return size.status();
  const std::uint64_t bytes = directory_row_offset(rows);
  if (rows != 0 && *size < bytes) {
    return absl::DataLossError(concat("it holds fewer than the ", rows, " rows of the manifest"));
  }
  directory->file_ = *std::move(file);
  if (rows == 0) return directory;
  const auto mapped = directory->file_->map(bytes);
  if (!mapped.ok()) return mapped.status();
  directory->file_->expect(File::Access::kSequential);
  directory->bytes_ = *mapped;
  return directory;
}

bool DirectoryFile::read(Sequence sequence, DirectoryRow& row) const {
  std::memcpy(&row, bytes_ + directory_row_offset(sequence), sizeof row);
  return open_directory_row(row);
}

Sequence DirectoryFile::find(LogPosition position) const {
  Sequence begin = 0;
  for (Sequence count = rows_; count > 0;) {
    const Sequence half = count / 2;
    DirectoryRow row;
    (void)read(begin + half, row);
    if (row.position < position) {
      begin += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return begin;
}

std::uint64_t DirectoryFile::offset_of(Sequence sequence) { return directory_row_offset(sequence); }

}  // namespace gyre::storage

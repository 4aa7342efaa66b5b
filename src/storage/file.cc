#include "gyre/storage/file.h"

#include <algorithm>

#include "gyre/base/ids.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::string_view kUnfinishedSuffix = ".tmp";

constexpr std::uint64_t kCopyBytes = kMiB;

std::string_view parent_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Leaves nothing of an unfinished attempt, so that the file can be made anew.
absl::Status remove_if_there(FileSystem& files, std::string_view path) {
  return files.exists(path) ? files.remove(path) : absl::OkStatus();
}

absl::Status write_new_file(FileSystem& files, std::string_view path, std::string_view content) {
  auto file = files.open(path, FileSystem::OpenMode::kCreateNew);
  if (!file.ok()) return file.status();
  const ByteSpan part = as_bytes(content);
  if (absl::Status status = (*file)->write_at(0, {&part, 1}); !status.ok()) return status;
  return (*file)->sync_data();
}

}  // namespace

absl::Status copy_by_reading(FileSystem& files, std::string_view from, std::string_view to,
                             const std::function<absl::Status(std::uint64_t)>& advance) {
  auto source = files.open(from, FileSystem::OpenMode::kRead);
  if (!source.ok()) return source.status();
  const auto size = (*source)->size();
  if (!size.ok()) return size.status();
  auto target = files.open(to, FileSystem::OpenMode::kCreateNew);
  if (!target.ok()) return target.status();
  std::vector<std::uint8_t> buffer(std::min(kCopyBytes, *size));
  for (std::uint64_t done = 0; done < *size;) {
    const std::span<std::uint8_t> part(buffer.data(), std::min(kCopyBytes, *size - done));
    absl::Status status = (*source)->read_at(done, part);
    const ByteSpan read = part;
    if (status.ok()) status = (*target)->write_at(done, {&read, 1});
    if (status.ok()) status = advance(part.size());
    if (!status.ok()) return status;
    done += part.size();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> read_file(FileSystem& files, std::string_view path) {
  auto file = files.open(path, FileSystem::OpenMode::kRead);
  if (!file.ok()) return file.status();
  const auto size = (*file)->size();
  if (!size.ok()) return size.status();
  std::string content(*size, '\0');
  const absl::Status status =
      (*file)->read_at(0, {reinterpret_cast<std::uint8_t*>(content.data()), content.size()});
  if (!status.ok()) return status;
  return content;
}

absl::Status write_file_atomically(FileSystem& files, std::string_view path,
                                   std::string_view content) {
  if (absl::Status status = stage_file(files, path, content); !status.ok()) return status;
  return publish_file(files, path);
}

absl::Status stage_file(FileSystem& files, std::string_view path, std::string_view content) {
  const std::string unfinished = concat(path, kUnfinishedSuffix);
  if (absl::Status status = remove_if_there(files, unfinished); !status.ok()) return status;
  // The content is durable before the name points to it, so that no crash can show a part of it.
  absl::Status status = write_new_file(files, unfinished, content);
  if (!status.ok()) remove_if_there(files, unfinished).IgnoreError();
  return status;
}

absl::Status publish_file(FileSystem& files, std::string_view path) {
  const std::string unfinished = concat(path, kUnfinishedSuffix);
  if (absl::Status status = files.rename(unfinished, path); !status.ok()) return status;
  return files.sync_directory(parent_of(path));
}

}  // namespace gyre::storage

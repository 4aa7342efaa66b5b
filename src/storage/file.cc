#include "gyre/storage/file.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::string_view kUnfinishedSuffix = ".tmp";

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

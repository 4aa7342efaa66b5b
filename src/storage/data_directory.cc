#include "gyre/storage/data_directory.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "storage/concat.h"
#include "storage/crc32c.h"
#include "storage/little_endian.h"

namespace gyre::storage {
namespace {

constexpr std::string_view kMagic("GYRESTO\0", 8);
constexpr std::uint32_t kVersion = 1;
constexpr std::size_t kStoreFileBytes = 64;
constexpr std::size_t kCrcOffset = 60;

constexpr std::string_view kStoreFile = "gyre-store";
constexpr std::string_view kStoreFileUnfinished = "gyre-store.tmp";
constexpr std::string_view kLockFile = "lock";
constexpr std::string_view kShardPrefix = "shard-";

std::string encode(const StoreHeader& store) {
  std::string out(kStoreFileBytes, '\0');
  auto* const bytes = reinterpret_cast<std::uint8_t*>(out.data());
  std::copy(kMagic.begin(), kMagic.end(), out.begin());
  store_u32(bytes + 8, kVersion);
  store_u32(bytes + 12, store.shard_count);
  std::copy(store.key.begin(), store.key.end(), bytes + 16);
  store_u32(bytes + kCrcOffset, crc32c(0, {bytes, kCrcOffset}));
  return out;
}

absl::StatusOr<StoreHeader> read_store_file(FileSystem& files, std::string_view path) {
  const auto content = read_file(files, path);
  if (!content.ok()) return content.status();
  const ByteSpan bytes = as_bytes(*content);
  if (!content->starts_with(kMagic) || bytes.size() < kMagic.size() + 4) {
    return absl::DataLossError(
        concat(path,
               " is damaged: it does not begin like the file of a gyre store; "
               "copy it from any backup of this store, for it never changes"));
  }
  // Before size and checksum, which a later version may have elsewhere.
  if (const std::uint32_t version = load_u32(&bytes[8]); version > kVersion) {
    return absl::FailedPreconditionError(concat(path, ": the store has format ", version,
                                                ", and this gyre knows formats up to ", kVersion,
                                                "; run the newer gyre that wrote it"));
  }
  StoreHeader store;
  if (bytes.size() == kStoreFileBytes &&
      load_u32(&bytes[kCrcOffset]) == crc32c(0, bytes.first(kCrcOffset))) {
    store.shard_count = load_u32(&bytes[12]);
    std::copy_n(&bytes[16], store.key.size(), store.key.begin());
    if (store.shard_count >= 1 && store.shard_count <= kShardsMax) return store;
  }
  return absl::DataLossError(concat(path,
                                    " is damaged: it fails its checksum; copy it from any backup "
                                    "of this store, for it never changes"));
}

enum class FolderContent : std::uint8_t { kNothing, kStore, kSomethingElse };

// What a start that died before it had written gyre-store leaves behind counts as nothing; so does
// what a fresh file system has in its root.
absl::StatusOr<FolderContent> examine(FileSystem& files, std::string_view path,
                                      std::string& foreign_name) {
  const auto names = files.list(path);
  if (!names.ok()) return names.status();
  if (std::binary_search(names->begin(), names->end(), kStoreFile)) return FolderContent::kStore;
  for (const std::string& name : *names) {
    if (name == kLockFile || name == kStoreFileUnfinished || name == "lost+found") continue;
    if (name.starts_with(kShardPrefix)) {
      const auto inside = files.list(concat(path, "/", name));
      if (inside.ok() && inside->empty()) continue;
    }
    foreign_name = name;
    return FolderContent::kSomethingElse;
  }
  return FolderContent::kNothing;
}

absl::Status with_cure(const absl::Status& status, std::string_view path) {
  if (!absl::IsPermissionDenied(status)) return status;
  return absl::PermissionDeniedError(concat(status.message(),
                                            "; give the user that runs gyre (uid ", geteuid(),
                                            ") the right to write in ", path));
}

absl::Status make_folder(FileSystem& files, std::string_view path) {
  absl::Status status = files.create_directories(path);
  if (!absl::IsFailedPrecondition(status)) return with_cure(status, path);
  return absl::FailedPreconditionError(
      concat(status.message(), "; the data directory must be a folder: choose another path"));
}

absl::Status check_shards(FileSystem& files, std::string_view path, const StoreHeader& store) {
  for (std::uint32_t shard = 0; shard < store.shard_count; ++shard) {
    const std::string folder = concat(path, "/", shard_folder_name(shard));
    if (!files.exists(folder)) {
      return absl::DataLossError(concat(folder, " is missing: the store has ", store.shard_count,
                                        " shards; put it back, or restore a backup"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status make_store(FileSystem& files, std::string_view path, const StoreHeader& store) {
  for (std::uint32_t shard = 0; shard < store.shard_count; ++shard) {
    absl::Status status = files.create_directories(concat(path, "/", shard_folder_name(shard)));
    if (!status.ok()) return status;
  }
  // Last: its presence says that the rest is there.
  return write_file_atomically(files, concat(path, "/", kStoreFile), encode(store));
}

absl::StatusOr<StoreHeader> read_store_header(FileSystem& files, std::string_view path) {
  const std::string file = concat(path, "/", kStoreFile);
  if (!files.exists(file)) {
    return absl::NotFoundError(concat("there is no store at ", path,
                                      "; name the folder that `gyre relay` uses (store.path)"));
  }
  return read_store_file(files, file);
}

std::string shard_folder_name(std::uint32_t shard) {
  return concat(kShardPrefix, zero_padded(shard, 3));
}

absl::StatusOr<std::unique_ptr<DataDirectory>> DataDirectory::open(FileSystem& files,
                                                                   std::string_view path,
                                                                   std::uint32_t shard_count,
                                                                   Random& random) {
  if (shard_count < 1 || shard_count > kShardsMax) {
    return absl::InvalidArgumentError(
        concat("a store for ", shard_count, " shards: it must be 1 to ", kShardsMax));
  }
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  if (absl::Status status = make_folder(files, path); !status.ok()) return status;
  // Before the lock, which would leave a file in a folder that is not ours.
  std::string foreign_name;
  auto content = examine(files, path, foreign_name);
  if (!content.ok()) return with_cure(content.status(), path);
  if (*content == FolderContent::kSomethingElse) {
    return absl::FailedPreconditionError(
        concat(path, " holds something that is no gyre store (", foreign_name,
               "); choose an empty folder, or one that does not exist yet"));
  }
  auto lock = files.lock(concat(path, "/", kLockFile));
  if (absl::IsUnavailable(lock.status())) {
    return absl::UnavailableError(
        concat(lock.status().message(),
               "; another gyre runs on this store: stop it, or choose another data directory"));
  }
  if (!lock.ok()) return with_cure(lock.status(), path);
  std::unique_ptr<DataDirectory> directory(new DataDirectory());
  directory->path_ = std::string(path);
  directory->lock_ = *std::move(lock);
  if (absl::Status status = directory->load_or_make(files, shard_count, random); !status.ok()) {
    return with_cure(status, path);
  }
  return directory;
}

absl::Status DataDirectory::load_or_make(FileSystem& files, std::uint32_t shard_count,
                                         Random& random) {
  const std::string store_path = concat(path_, "/", kStoreFile);
  StoreHeader store;
  // Asked again under the lock: another process may have made the store a moment ago.
  if (files.exists(store_path)) {
    auto found = read_store_file(files, store_path);
    if (!found.ok()) return found.status();
    store = *found;
    if (absl::Status status = check_shards(files, path_, store); !status.ok()) return status;
  } else {
    store.shard_count = shard_count;
    random.fill(store.key);
    if (absl::Status status = make_store(files, path_, store); !status.ok()) return status;
  }
  shard_count_ = store.shard_count;
  key_ = store.key;
  return absl::OkStatus();
}

std::string DataDirectory::shard_path(ShardId shard) const {
  return concat(path_, "/", shard_folder_name(shard));
}

}  // namespace gyre::storage

// DataDirectory: the folder that holds a whole store, and the lock on it.
//
//     gyre-store        version, shard count, store key (written once, checksummed)
//     lock              held while a process uses the store
//     shard-000/ ...    log, directory, runs and manifest of one shard each
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gyre/base/ids.h"
#include "gyre/base/random.h"
#include "gyre/storage/file.h"

namespace gyre::storage {

// What the file gyre-store says.
struct StoreHeader {
  std::uint32_t shard_count = 0;
  std::array<std::uint8_t, 16> key{};
};
// Of the store at `path`, without a lock: for whoever looks at a store that a relay may have open.
// kNotFound, with the cure, if there is none.
[[nodiscard]] absl::StatusOr<StoreHeader> read_store_header(FileSystem& files,
                                                            std::string_view path);
// Makes an empty store with this key, for one that is made of another. The folder must be empty or
// missing.
[[nodiscard]] absl::Status make_store(FileSystem& files, std::string_view path,
                                      const StoreHeader& header);
// "shard-007".
[[nodiscard]] std::string shard_folder_name(std::uint32_t shard);

class DataDirectory {
 public:
  // Opens the store at `path`, or makes one for `shard_count` shards if the folder is missing or
  // empty. An existing store keeps its own count. Refuses, with the cure: a folder that holds
  // something else, a store of a newer version, a store that another process has locked. Holds the
  // lock as long as it lives.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<DataDirectory>> open(
      FileSystem& files, std::string_view path, std::uint32_t shard_count, Random& random);

  [[nodiscard]] std::uint32_t shard_count() const { return shard_count_; }
  // Keys the term hashes and the assignment of authors to shards.
  [[nodiscard]] const std::array<std::uint8_t, 16>& key() const { return key_; }
  [[nodiscard]] std::string shard_path(ShardId shard) const;

 private:
  DataDirectory() = default;
  [[nodiscard]] absl::Status load_or_make(FileSystem& files, std::uint32_t shard_count,
                                          Random& random);

  std::string path_;
  std::uint32_t shard_count_ = 0;
  std::array<std::uint8_t, 16> key_{};
  std::unique_ptr<FileSystem::Lock> lock_;
};

}  // namespace gyre::storage

// The file system as a parameter: the kernel's in production, a disk that tears and forgets in
// tests (test/support/sim_file_system.h).
//
// Calls block. They are made by the log writer, by the checkpoint worker, and by start-up and
// tools; a shard's turn only reads mapped memory. Statuses carry errno as the absl code closest to
// it (kResourceExhausted for ENOSPC and EDQUOT and nothing else) and a message that names the path.
// A failed sync is kDataLoss whatever its errno: what it covered may be gone, and a second try that
// succeeds proves nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gyre/base/bytes.h"

namespace gyre::storage {

class File {
 public:
  virtual ~File() = default;
  // All of it or an error: short counts and EINTR are retried inside.
  [[nodiscard]] virtual absl::Status write_at(std::uint64_t offset,
                                              std::span<const ByteSpan> parts) = 0;
  // Reads exactly out.size() bytes; kOutOfRange if the file ends before.
  [[nodiscard]] virtual absl::Status read_at(std::uint64_t offset,
                                             std::span<std::uint8_t> out) const = 0;
  [[nodiscard]] virtual absl::Status sync_data() = 0;  // fdatasync
  [[nodiscard]] virtual absl::StatusOr<std::uint64_t> size() const = 0;
  [[nodiscard]] virtual absl::Status truncate(std::uint64_t size) = 0;
  // Reserves space for [offset, offset + bytes) so that writes there cannot fail for want of it;
  // extends the file, and what was never written reads as zeros.
  [[nodiscard]] virtual absl::Status allocate(std::uint64_t offset, std::uint64_t bytes) = 0;
  // A read-only shared view of the first `bytes` bytes, coherent with write_at; it stays where it
  // is as the file grows into it, and ends with the File. `bytes` may exceed the size; the part
  // beyond the end of the file must not be touched. At most one mapping for each File.
  [[nodiscard]] virtual absl::StatusOr<const std::uint8_t*> map(std::uint64_t bytes) = 0;
  // Brings a range of the mapping into memory, and keeps it there where the process's limits allow
  // that; if not, the status says why, and the range is in memory all the same.
  [[nodiscard]] virtual absl::Status keep_resident(std::uint64_t /*offset*/,
                                                   std::uint64_t /*bytes*/) const {
    return absl::OkStatus();
  }
  // Advice on the mapping, of which single records are read here and there unless it says
  // otherwise. read_ahead() starts reading a range; populate() returns when it is in memory, so
  // that touching it faults no more until the kernel needs the memory and nobody asks for it.
  enum class Access : std::uint8_t { kRandom, kSequential };
  virtual void expect(Access /*access*/) const {}
  virtual void read_ahead(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) const {}
  // False if the disk did not give it.
  virtual bool populate(std::uint64_t /*offset*/, std::uint64_t /*bytes*/) const { return true; }
  // Drops what is synced from the page cache: the next read comes from the disk.
  virtual void drop_cached() const {}
  // By which a FileReader names the file.
  [[nodiscard]] virtual int descriptor() const = 0;
};

// What File::keep_resident() has done in several steps.
struct Residence {
  std::uint64_t bytes = 0;
  std::uint64_t unlocked_bytes = 0;  // In memory, but not sure to stay there,
  std::string reason;                // and why.

  void add(std::uint64_t added_bytes, const absl::Status& status) {
    bytes += added_bytes;
    if (status.ok()) return;
    unlocked_bytes += added_bytes;
    reason = std::string(status.message());
  }
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  enum class OpenMode : std::uint8_t { kRead, kReadWrite, kCreateNew };
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<File>> open(std::string_view path,
                                                                   OpenMode mode) = 0;
  [[nodiscard]] virtual bool exists(std::string_view path) const = 0;
  [[nodiscard]] virtual absl::StatusOr<std::vector<std::string>> list(
      std::string_view directory) const = 0;  // Names, sorted, without . and ..
  // With missing parents; those it makes are durable when it returns.
  [[nodiscard]] virtual absl::Status create_directories(std::string_view path) = 0;
  // What open(kCreateNew), rename() and remove() do to a folder is durable after sync_directory().
  // rename() replaces what stands at `to`.
  [[nodiscard]] virtual absl::Status rename(std::string_view from, std::string_view to) = 0;
  [[nodiscard]] virtual absl::Status remove(std::string_view path) = 0;
  [[nodiscard]] virtual absl::Status sync_directory(std::string_view path) = 0;
  // Makes the new file `to` with what `from` holds now; its blocks are shared where the file system
  // can. Not synced. `advance` hears of bytes as they are copied, and its status ends the copying;
  // what has been copied stays. `from` may grow meanwhile.
  [[nodiscard]] virtual absl::Status copy(
      std::string_view from, std::string_view to,
      const std::function<absl::Status(std::uint64_t)>& advance) = 0;
  // Space left for files in this folder, as far as this process may use it.
  [[nodiscard]] virtual absl::StatusOr<std::uint64_t> free_bytes(std::string_view path) const = 0;
  // An exclusive lock held until the returned object dies; kUnavailable if another process has it.
  class Lock {
   public:
    virtual ~Lock() = default;
  };
  [[nodiscard]] virtual absl::StatusOr<std::unique_ptr<Lock>> lock(std::string_view path) = 0;
};

// The kernel's.
[[nodiscard]] FileSystem& posix_file_system();

// FileSystem::copy() for file systems that can do no better: reads and writes.
[[nodiscard]] absl::Status copy_by_reading(
    FileSystem& files, std::string_view from, std::string_view to,
    const std::function<absl::Status(std::uint64_t)>& advance);

// Whole small files. write_file_atomically: write path.tmp, sync, rename, sync the directory.
[[nodiscard]] absl::StatusOr<std::string> read_file(FileSystem& files, std::string_view path);
[[nodiscard]] absl::Status write_file_atomically(FileSystem& files, std::string_view path,
                                                 std::string_view content);

// Its two halves: write path.tmp and sync it; rename it and sync the directory.
[[nodiscard]] absl::Status stage_file(FileSystem& files, std::string_view path,
                                      std::string_view content);
[[nodiscard]] absl::Status publish_file(FileSystem& files, std::string_view path);

}  // namespace gyre::storage

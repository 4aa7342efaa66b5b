// SimFileSystem: a disk in memory that forgets, tears and fails as real ones may.
//
// What was written and not synced is kept apart, sector by sector, and so are changes of folders.
// crash() decides what of it survives a power failure: any subset of the sectors, each in any of
// the versions it had since the last sync, some of them torn. Every changing call counts as one
// operation, so that a test can cut the power at each of them in turn.
//
// One thread only. Mappings are copies that every write updates, so they are coherent.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/random.h"
#include "gyre/storage/file.h"

namespace gyre::test {

class SimFileSystem final : public storage::FileSystem {
 public:
  SimFileSystem();
  ~SimFileSystem() override;

  absl::StatusOr<std::unique_ptr<storage::File>> open(std::string_view path,
                                                      OpenMode mode) override;
  bool exists(std::string_view path) const override;
  absl::StatusOr<std::vector<std::string>> list(std::string_view directory) const override;
  absl::Status create_directories(std::string_view path) override;
  absl::Status rename(std::string_view from, std::string_view to) override;
  absl::Status remove(std::string_view path) override;
  absl::Status copy(std::string_view from, std::string_view to,
                    const std::function<absl::Status(std::uint64_t)>& advance) override {
    return storage::copy_by_reading(*this, from, to, advance);
  }
  absl::Status sync_directory(std::string_view path) override;
  absl::StatusOr<std::uint64_t> free_bytes(std::string_view path) const override;
  absl::StatusOr<std::unique_ptr<Lock>> lock(std::string_view path) override;

  enum class Operation : std::uint8_t {
    kWrite,
    kSync,
    kTruncate,
    kAllocate,
    kCreate,
    kCreateDirectories,
    kRename,
    kRemove,
    kSyncDirectory,
    kLock,
  };
  enum class Fault : std::uint8_t {
    kNoSpace,
    kIoError,
    kShortWrite,  // A write is done in part, then fails with an I/O error.
    kPermissionDenied,
    kNoDescriptors,
  };

  // Operations done so far, failed ones included.
  [[nodiscard]] std::uint64_t operation_count() const { return operation_count_; }
  // The operation after `skipped` others of its kind fails, once.
  void fail(Operation operation, std::uint64_t skipped, Fault fault);
  // Files may have this many bytes together; growing beyond is kResourceExhausted.
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  [[nodiscard]] std::uint64_t used_bytes() const;

  // After `count` more operations nothing has an effect any more and every call fails: the moment
  // of a power failure. The process may go on for a while without noticing.
  void power_off_after(std::uint64_t count) { power_off_at_ = operation_count_ + count; }
  [[nodiscard]] bool is_powered_off() const { return operation_count_ > power_off_at_; }

  // The state after a power failure; the power is on again. Files that are still open are cut off:
  // they change nothing that is opened from now on.
  void crash(Random& random);
  // kill -9: the process is gone, everything it has written stays; the power is on.
  void kill_process();

  // What reading by File::descriptor() gives: the bytes read. Requires: the file is open.
  [[nodiscard]] std::int32_t read_open_file(int descriptor, std::uint64_t offset,
                                            std::span<std::uint8_t> out) const;

  // Every file by path, as it reads now.
  [[nodiscard]] std::map<std::string, std::vector<std::uint8_t>> contents() const;
  // Changes a file behind everybody's back, durably.
  void overwrite(std::string_view path, std::vector<std::uint8_t> content);

 private:
  struct Node;
  class SimFile;
  class SimLock;
  using NodeHandle = std::shared_ptr<Node>;
  using Names = std::map<std::string, NodeHandle, std::less<>>;

  // A change of a folder that has not been synced. `node` is null for a removal.
  struct Change {
    std::string directory;
    std::string from;  // A name that goes, or empty.
    std::string to;    // A name that comes, or empty.
    NodeHandle node;
  };
  static void apply(const Change& change, Names& names);
  void change_directory(Change change);

  [[nodiscard]] absl::Status begin(Operation operation, std::string_view path);
  [[nodiscard]] bool has_space_for(std::uint64_t growth) const;
  void restart();

  Names names_;
  Names durable_names_;
  std::vector<Change> changes_;
  std::set<std::string, std::less<>> directories_;
  std::set<std::string, std::less<>> locked_;
  std::map<int, const SimFile*> open_files_;  // By descriptor.
  int next_descriptor_ = 3'000'000;

  struct PlannedFault {
    Operation operation;
    std::uint64_t skipped;
    Fault fault;
  };
  std::optional<PlannedFault> planned_;
  bool is_short_write_due_ = false;
  std::uint64_t operation_count_ = 0;
  std::uint64_t power_off_at_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t capacity_ = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t process_ = 0;  // Counts crashes and kills: locks of earlier processes are gone.
};

}  // namespace gyre::test

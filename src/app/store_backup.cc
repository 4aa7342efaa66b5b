#include "app/store_backup.h"

#include <ctime>
#include <memory>
#include <vector>

#include "app/parallel_shards.h"
#include "app/quantity_text.h"
#include "gyre/base/clock.h"
#include "gyre/storage/data_directory.h"
#include "gyre/storage/file.h"
#include "gyre/storage/shard_backup.h"

namespace gyre::app {
namespace {

using storage::FileSystem;
using storage::ShardBackup;
using storage::ShardBackupReport;

constexpr char kNoteName[] = "/gyre-backup";
constexpr char kStoreName[] = "/gyre-store";

class Backup {
 public:
  explicit Backup(const BackupOptions& options)
      : options_(options), files_(storage::posix_file_system()) {}

  absl::StatusOr<BackupReport> run();

 private:
  absl::Status prepare_target();
  absl::Status check_is_ours() const;
  absl::Status write_note(const std::string& state);
  absl::Status finish();
  [[nodiscard]] ShardBackup shard(std::uint32_t number) const;
  [[nodiscard]] absl::StatusOr<std::uint64_t> total_bytes() const;

  const BackupOptions& options_;
  FileSystem& files_;
  SystemClock clock_;
  storage::StoreHeader header_;
  std::string store_file_;
  std::unique_ptr<FileSystem::Lock> lock_;
};

absl::StatusOr<BackupReport> Backup::run() {
  const std::uint64_t begin_ns = clock_.monotonic_ns();
  const auto header = storage::read_store_header(files_, options_.store_path);
  if (!header.ok()) return header.status();
  header_ = *header;
  auto store_file = storage::read_file(files_, options_.store_path + kStoreName);
  if (!store_file.ok()) return store_file.status();
  store_file_ = *std::move(store_file);
  if (absl::Status status = prepare_target(); !status.ok()) return status;

  const auto bytes = total_bytes();
  if (!bytes.ok()) return bytes.status();
  std::vector<ShardBackupReport> reports(header_.shard_count);
  SharedProgress progress;
  absl::Status status = for_each_shard(
      header_.shard_count, "MiB", *bytes, progress, [&](ShardId number) -> absl::Status {
        ShardBackup one = shard(number);
        one.advance = [&progress](std::uint64_t done) {
          progress.bytes.fetch_add(done, std::memory_order_relaxed);
          progress.count.store(progress.bytes.load(std::memory_order_relaxed) >> 20,
                               std::memory_order_relaxed);
          return interruption();
        };
        auto report = storage::back_up_shard(files_, one);
        if (report.ok()) reports[number] = *report;
        return report.status();
      });
  if (status.ok()) status = finish();
  if (!status.ok()) return status;

  BackupReport report;
  for (const ShardBackupReport& one : reports) {
    report.copied_bytes += one.copied_bytes;
    report.kept_bytes += one.kept_bytes;
    report.records += one.records;
  }
  for (std::uint32_t i = 0; i < header_.shard_count; ++i) {
    const bool had_index = files_.exists(shard(i).from + "/manifest");
    report.has_index = report.has_index && (reports[i].has_index || !had_index);
  }
  report.seconds = static_cast<double>(clock_.monotonic_ns() - begin_ns) / 1e9;
  return report;
}

ShardBackup Backup::shard(std::uint32_t number) const {
  const std::string name = "/" + storage::shard_folder_name(number);
  return {options_.store_path + name,
          options_.to + name,
          header_.key,
          static_cast<ShardId>(number),
          {}};
}

absl::StatusOr<std::uint64_t> Backup::total_bytes() const {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < header_.shard_count; ++i) {
    const auto bytes = storage::bytes_to_back_up(files_, shard(i).from);
    if (!bytes.ok()) return bytes.status();
    total += *bytes;
  }
  return total;
}

absl::Status Backup::prepare_target() {
  if (absl::Status status = files_.create_directories(options_.to); !status.ok()) return status;
  if (absl::Status status = check_is_ours(); !status.ok()) return status;
  auto lock = files_.lock(options_.to + "/lock");
  if (absl::IsUnavailable(lock.status())) {
    return absl::UnavailableError(std::string(lock.status().message()) +
                                  "; another backup or a relay uses this folder");
  }
  if (!lock.ok()) return lock.status();
  lock_ = *std::move(lock);
  // A folder without gyre-store is no store, so a first backup is one only when it is complete.
  absl::Status status =
      write_note(files_.exists(options_.to + kStoreName) ? "being renewed" : "unfinished");
  for (std::uint32_t i = 0; i < header_.shard_count && status.ok(); ++i) {
    status = files_.create_directories(shard(i).to);
  }
  // All of them before anything is changed.
  for (std::uint32_t i = 0; i < header_.shard_count && status.ok(); ++i) {
    status = storage::check_backup_target(files_, shard(i));
  }
  return status;
}

absl::Status Backup::check_is_ours() const {
  const auto names = files_.list(options_.to);
  if (!names.ok()) return names.status();
  if (names->empty()) return absl::OkStatus();
  const std::string cure = "; choose an empty folder, or one that does not exist yet";
  if (!files_.exists(options_.to + kNoteName)) {
    return absl::FailedPreconditionError(options_.to + " holds something that is no backup (" +
                                         names->front() + ")" + cure);
  }
  if (!files_.exists(options_.to + kStoreName)) return absl::OkStatus();
  const auto store_file = storage::read_file(files_, options_.to + kStoreName);
  if (!store_file.ok()) return store_file.status();
  if (*store_file == store_file_) return absl::OkStatus();
  return absl::FailedPreconditionError(options_.to + " is a backup of another store" + cure);
}

absl::Status Backup::write_note(const std::string& state) {
  const std::string text = "Backup of the gyre store " + options_.store_path + ", " + state +
                           "\nas of " + time_text(static_cast<std::uint64_t>(clock_.unix_s())) +
                           " UTC. When it is complete, gyre relay runs on this folder.\n";
  return storage::write_file_atomically(files_, options_.to + kNoteName, text);
}

absl::Status Backup::finish() {
  const std::string path = options_.to + kStoreName;
  absl::Status status;
  if (!files_.exists(path)) status = storage::write_file_atomically(files_, path, store_file_);
  if (status.ok()) status = write_note("complete");
  return status;
}

}  // namespace

absl::StatusOr<BackupReport> run_backup(const BackupOptions& options) {
  return Backup(options).run();
}

}  // namespace gyre::app

#include "gyre/storage/shard_backup.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "gyre/storage/manifest.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/directory_file.h"
#include "storage/log_backup.h"
#include "storage/log_segment.h"
#include "storage/posting_run.h"

namespace gyre::storage {
namespace {

// A busy relay writes a checkpoint every few seconds, and the second copy needs but a moment.
constexpr int kAttempts = 8;

class Backup {
 public:
  Backup(FileSystem& files, const ShardBackup& backup) : files_(files), backup_(backup) {}

  absl::StatusOr<ShardBackupReport> run();

 private:
  enum class Attempt : std::uint8_t { kDone, kOutdated };
  absl::StatusOr<Attempt> try_once();
  absl::StatusOr<Attempt> copy_index(const Manifest& manifest);
  absl::StatusOr<Attempt> copy_run(const std::string& name);
  absl::StatusOr<bool> is_run_sound(const std::string& name) const;
  absl::StatusOr<Attempt> copy_directory(Sequence rows);
  absl::Status publish(const Manifest& manifest);
  absl::Status forget_index();
  absl::Status remove_unnamed_runs(const Manifest& manifest);
  absl::Status copy_anew(const std::string& name, const std::string& to);
  absl::StatusOr<Manifest> manifest_of(const std::string& folder) const {
    return read_manifest(files_, concat(folder, "/manifest"),
                         shard_identity(backup_.key, backup_.shard));
  }

  FileSystem& files_;
  const ShardBackup& backup_;
  ShardBackupReport report_;
};

bool is_same(const Manifest& a, const Manifest& b) {
  return a.log_position == b.log_position && a.directory_rows == b.directory_rows &&
         a.runs == b.runs && a.dead_runs == b.dead_runs;
}

bool is_run_name(std::string_view name) {
  return name.starts_with("run-") || name.starts_with("dead-");
}

absl::StatusOr<ShardBackupReport> Backup::run() {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const auto result = try_once();
    if (!result.ok()) return result.status();
    if (*result == Attempt::kDone) return report_;
  }
  // The log is there, and the index can be made from it.
  if (absl::Status status = forget_index(); !status.ok()) return status;
  return report_;
}

absl::StatusOr<Backup::Attempt> Backup::try_once() {
  const auto manifest = manifest_of(backup_.from);
  // Without one, or with one that the next start would throw away, there is no index yet.
  const bool has_index = manifest.ok();
  if (!has_index && !absl::IsNotFound(manifest.status()) &&
      !is_older_derived_version(manifest.status())) {
    return manifest.status();
  }
  if (has_index) {
    const auto copied = copy_index(*manifest);
    if (!copied.ok() || *copied == Attempt::kOutdated) return copied;
  } else if (absl::Status status = forget_index(); !status.ok()) {
    return status;
  }
  LogBackup log(files_, backup_, report_);
  if (absl::Status status = log.copy([this] { return forget_index(); }); !status.ok()) {
    return status;
  }
  if (!has_index) return Attempt::kDone;
  // No checkpoint and no merge since the beginning, so nothing has been compacted either that the
  // directory does not know to be dead.
  const auto now = manifest_of(backup_.from);
  if (!now.ok()) return now.status();
  if (!is_same(*now, *manifest)) return Attempt::kOutdated;
  if (absl::Status status = publish(*manifest); !status.ok()) return status;
  report_.has_index = true;
  return Attempt::kDone;
}

absl::StatusOr<Backup::Attempt> Backup::copy_index(const Manifest& manifest) {
  std::vector<std::string> names = manifest.runs;
  names.insert(names.end(), manifest.dead_runs.begin(), manifest.dead_runs.end());
  for (const std::string& name : names) {
    const auto copied = copy_run(name);
    if (!copied.ok() || *copied == Attempt::kOutdated) return copied;
  }
  return copy_directory(manifest.directory_rows);
}

// A name is never used twice, so a run that is there is the same.
absl::StatusOr<Backup::Attempt> Backup::copy_run(const std::string& name) {
  if (files_.exists(concat(backup_.to, "/", name))) {
    auto file = files_.open(concat(backup_.to, "/", name), FileSystem::OpenMode::kRead);
    if (!file.ok()) return file.status();
    const auto size = (*file)->size();
    if (!size.ok()) return size.status();
    report_.kept_bytes += *size;
    if (absl::Status status = backup_.advance(*size); !status.ok()) return status;
    return Attempt::kDone;
  }
  const std::string unfinished = concat(name, ".tmp");
  absl::Status status = copy_anew(name, unfinished);
  if (absl::IsNotFound(status)) return Attempt::kOutdated;  // Merged into another meanwhile.
  if (!status.ok()) return status;
  const auto is_sound = is_run_sound(unfinished);
  if (!is_sound.ok()) return is_sound.status();
  if (!*is_sound) {
    return absl::DataLossError(
        concat(backup_.from, "/", name, ": damaged; stop gyre and run `gyre check --repair`"));
  }
  status = files_.rename(concat(backup_.to, "/", unfinished), concat(backup_.to, "/", name));
  if (!status.ok()) return status;
  return Attempt::kDone;
}

absl::StatusOr<bool> Backup::is_run_sound(const std::string& name) const {
  const auto run = PostingRun::open(files_, backup_.to, name);
  if (absl::IsDataLoss(run.status())) return false;
  if (!run.ok()) return run.status();
  if (!(*run)->is_fence_sound()) return false;
  for (std::uint32_t block = 0; block < (*run)->block_count(); ++block) {
    if (!(*run)->is_block_sound(block)) return false;
  }
  return true;
}

absl::StatusOr<Backup::Attempt> Backup::copy_directory(Sequence rows) {
  absl::Status status = copy_anew("directory", "directory.tmp");
  if (!status.ok()) return status;
  const auto copied = DirectoryFile::open(files_, concat(backup_.to, "/directory.tmp"), rows);
  if (!copied.ok()) {
    return absl::DataLossError(concat(backup_.from, "/directory: ", copied.status().message(),
                                      "; stop gyre and run `gyre check --repair`"));
  }
  DirectoryRow row;
  for (Sequence sequence = 0; sequence < rows; ++sequence) {
    if ((*copied)->read(sequence, row)) continue;
    // Its flags were being written at that moment, unless it is damaged: then every attempt ends
    // here, and the copy goes without an index.
    return Attempt::kOutdated;
  }
  return Attempt::kDone;
}

absl::Status Backup::copy_anew(const std::string& name, const std::string& to) {
  const std::string target = concat(backup_.to, "/", to);
  if (files_.exists(target)) {
    if (absl::Status status = files_.remove(target); !status.ok()) return status;
  }
  const auto count = [this](std::uint64_t bytes) {
    report_.copied_bytes += bytes;
    return backup_.advance(bytes);
  };
  absl::Status status = files_.copy(concat(backup_.from, "/", name), target, count);
  if (!status.ok()) return status;
  auto file = files_.open(target, FileSystem::OpenMode::kReadWrite);
  if (!file.ok()) return file.status();
  return (*file)->sync_data();
}

// The older manifest goes well with the new directory and the new log, which has every death that
// is in there.
absl::Status Backup::publish(const Manifest& manifest) {
  absl::Status status =
      files_.rename(concat(backup_.to, "/directory.tmp"), concat(backup_.to, "/directory"));
  if (status.ok()) status = files_.sync_directory(backup_.to);
  if (status.ok()) status = write_manifest(files_, concat(backup_.to, "/manifest"), manifest);
  return status.ok() ? remove_unnamed_runs(manifest) : status;
}

absl::Status Backup::forget_index() {
  const std::string path = concat(backup_.to, "/manifest");
  if (!files_.exists(path)) return absl::OkStatus();
  absl::Status status = files_.remove(path);
  return status.ok() ? files_.sync_directory(backup_.to) : status;
}

absl::Status Backup::remove_unnamed_runs(const Manifest& manifest) {
  const auto names = files_.list(backup_.to);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    if (!is_run_name(name)) continue;
    const bool is_named = std::ranges::find(manifest.runs, name) != manifest.runs.end() ||
                          std::ranges::find(manifest.dead_runs, name) != manifest.dead_runs.end();
    if (is_named) continue;
    if (absl::Status status = files_.remove(concat(backup_.to, "/", name)); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

bool is_backed_up(std::string_view name) {
  return parse_segment_name(name) != 0 || name == "directory" || is_run_name(name);
}

}  // namespace

absl::Status check_backup_target(FileSystem& files, const ShardBackup& backup) {
  ShardBackupReport report;
  return LogBackup(files, backup, report).check_target();
}

absl::StatusOr<ShardBackupReport> back_up_shard(FileSystem& files, const ShardBackup& backup) {
  return Backup(files, backup).run();
}

absl::StatusOr<std::uint64_t> bytes_to_back_up(FileSystem& files, std::string_view folder) {
  const auto names = files.list(folder);
  if (!names.ok()) return names.status();
  std::uint64_t bytes = 0;
  for (const std::string& name : *names) {
    if (!is_backed_up(name)) continue;
    auto file = files.open(concat(folder, "/", name), FileSystem::OpenMode::kRead);
    if (absl::IsNotFound(file.status())) continue;  // Merged into another at this moment.
    if (!file.ok()) return file.status();
    const auto size = (*file)->size();
    if (!size.ok()) return size.status();
    bytes += *size;
  }
  return bytes;
}

}  // namespace gyre::storage

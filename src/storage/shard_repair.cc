#include "gyre/storage/shard_repair.h"

#include <memory>
#include <optional>
#include <utility>

#include "gyre/storage/manifest.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/directory_file.h"
#include "storage/log_salvage.h"
#include "storage/log_segment.h"
#include "storage/loss_survey.h"

namespace gyre::storage {
namespace {

class Repair {
 public:
  Repair(FileSystem& files, const ShardPlace& place, const ShardRepairOptions& options,
         Random& random)
      : files_(files),
        place_{files, place.folder, shard_identity(place.key, place.shard)},
        aside_(concat(place.folder, "/", options.aside)),
        options_(options),
        random_(random) {}

  absl::StatusOr<ShardRepair> run();

 private:
  absl::Status open_index();
  absl::Status salvage_log();
  void note_dead();
  absl::Status set_index_aside();
  absl::Status keep_segment(std::uint32_t number);
  absl::Status make_folder();
  [[nodiscard]] std::string path(std::string_view name) const {
    return concat(place_.directory, "/", name);
  }

  FileSystem& files_;
  const LogSegment::Place place_;
  const std::string aside_;
  const ShardRepairOptions& options_;
  Random& random_;
  std::optional<Manifest> manifest_;
  std::unique_ptr<DirectoryFile> rows_;
  ShardRepair result_;
};

absl::StatusOr<ShardRepair> Repair::run() {
  absl::Status status = open_index();
  if (status.ok()) status = salvage_log();
  if (status.ok()) status = set_index_aside();
  if (!status.ok()) return status;
  return std::move(result_);
}

// Both help to tell what is lost, as far as they can be read.
absl::Status Repair::open_index() {
  auto manifest = read_manifest(files_, path("manifest"), place_.owner);
  if (absl::IsNotFound(manifest.status()) || absl::IsDataLoss(manifest.status())) {
    return absl::OkStatus();
  }
  if (!manifest.ok()) return manifest.status();
  manifest_ = *std::move(manifest);
  auto rows = DirectoryFile::open(files_, path("directory"), manifest_->directory_rows);
  if (rows.ok()) rows_ = *std::move(rows);
  return absl::OkStatus();
}

absl::Status Repair::salvage_log() {
  const Manifest* const manifest = manifest_ ? &*manifest_ : nullptr;
  const LogPosition durable_until = manifest_ ? manifest_->log_position : LogPosition();
  LossSurvey survey(place_.directory, manifest, rows_.get(), options_.advance);
  const auto extent = walk_log(files_, place_.directory, durable_until, survey);
  if (!extent.ok()) return extent.status();
  survey.finish(*extent);
  result_.losses = survey.losses();
  if (result_.losses.empty()) return absl::OkStatus();
  note_dead();

  LogSalvage salvage(
      place_, survey, random_, [this](std::uint32_t number) { return keep_segment(number); },
      options_.advance);
  const auto walked = walk_log(files_, place_.directory, durable_until, salvage);
  if (!walked.ok()) return walked.status();
  return salvage.finish(*walked);
}

void Repair::note_dead() {
  if (rows_ == nullptr) return;
  DirectoryRow row;
  for (Sequence sequence = 0; sequence < rows_->rows(); ++sequence) {
    if (!rows_->read(sequence, row) || !is_row_of_event(row)) continue;
    if ((row.flags & kRowDead) != 0 && (row.flags & kRowSuperseded) == 0) {
      result_.dead.push_back(sequence);
    }
  }
}

absl::Status Repair::make_folder() { return files_.create_directories(aside_); }

// A copy, so that the segment has its name all the time: killed at any moment, the next repair
// finds either the old one or the new one.
absl::Status Repair::keep_segment(std::uint32_t number) {
  const std::string name = segment_name(number);
  if (!files_.exists(path(name))) return absl::OkStatus();
  if (absl::Status status = make_folder(); !status.ok()) return status;
  const std::string to = concat(aside_, "/", name);
  if (files_.exists(to)) {
    if (absl::Status status = files_.remove(to); !status.ok()) return status;
  }
  absl::Status status = files_.copy(path(name), to, options_.advance);
  if (!status.ok()) return status;
  auto copy = files_.open(to, FileSystem::OpenMode::kReadWrite);
  if (!copy.ok()) return copy.status();
  status = (*copy)->sync_data();
  if (status.ok()) status = files_.sync_directory(aside_);
  if (status.ok()) result_.set_aside.push_back(to);
  return status;
}

// The manifest first: without it nothing else of the index counts.
absl::Status Repair::set_index_aside() {
  rows_.reset();
  const auto names = files_.list(place_.directory);
  if (!names.ok()) return names.status();
  std::vector<std::string> chosen;
  if (files_.exists(path("manifest"))) chosen.emplace_back("manifest");
  for (const std::string& name : *names) {
    const bool is_derived =
        name == "directory" || name.starts_with("run-") || name.starts_with("dead-");
    if (is_derived) chosen.push_back(name);
  }
  if (chosen.empty()) return absl::OkStatus();
  if (absl::Status status = make_folder(); !status.ok()) return status;
  for (const std::string& name : chosen) {
    const std::string to = concat(aside_, "/", name);
    absl::Status status = files_.rename(path(name), to);
    // There before it is gone here.
    if (status.ok()) status = files_.sync_directory(aside_);
    if (status.ok()) status = files_.sync_directory(place_.directory);
    if (!status.ok()) return status;
    result_.set_aside.push_back(to);
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ShardRepair> repair_shard(FileSystem& files, const ShardPlace& place,
                                         const ShardRepairOptions& options, Random& random) {
  return Repair(files, place, options, random).run();
}

}  // namespace gyre::storage

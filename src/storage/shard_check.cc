#include "gyre/storage/shard_check.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "gyre/storage/manifest.h"
#include "storage/author_rules.h"
#include "storage/concat.h"
#include "storage/corruption.h"
#include "storage/directory_file.h"
#include "storage/finding_list.h"
#include "storage/log_check.h"
#include "storage/log_segment.h"
#include "storage/posting_difference.h"
#include "storage/posting_tally.h"
#include "storage/record_walk.h"
#include "storage/run_check.h"

namespace gyre::storage {
namespace {

// Finds rows that a version behind the checkpoint has superseded in the file already. Dead before,
// they stood under their address when the manifest was written.
class EarlySupersedings final : public RecordWalk {
 public:
  EarlySupersedings(const LogCheck& log, const DirectoryFile& rows, const TermHasher& hasher)
      : log_(log), rows_(rows), hasher_(hasher) {}

  [[nodiscard]] std::vector<Sequence> found() const {
    std::vector<Sequence> sequences;
    for (const auto& [address, sequence] : last_) sequences.push_back(sequence);
    std::ranges::sort(sequences);
    return sequences;
  }

 protected:
  absl::Status take_event(RecordType type, nostr::PackedEventView event,
                          Sequence sequence) override {
    if (type != RecordType::kEvent) return absl::OkStatus();
    if (const auto address = address_of(event, event.pubkey())) {
      take_version(hasher_.address(address->kind, address->pubkey, address->d), sequence);
    }
    return absl::OkStatus();
  }
  void take_mark(const AddressMarkRecord& mark, Sequence sequence) override {
    take_version(mark.address, sequence);
  }

 private:
  // Each version before the checkpoint supersedes the one before it.
  void take_version(Term address, Sequence sequence) {
    DirectoryRow row;
    if (sequence >= rows_.rows() || !log_.late_addresses().contains(address)) return;
    last_.erase(address);
    if (!rows_.read(sequence, row)) return;
    if (log_.may_be_superseded_early(sequence, row.flags)) last_.emplace(address, sequence);
  }

  const LogCheck& log_;
  const DirectoryFile& rows_;
  const TermHasher& hasher_;
  absl::flat_hash_map<Term, Sequence> last_;
};

class Check {
 public:
  Check(FileSystem& files, const ShardPlace& place, const ShardCheckOptions& options,
        Random& random)
      : files_(files),
        folder_(place.folder),
        identity_(shard_identity(place.key, place.shard)),
        hasher_(place.key),
        options_(options),
        key_(PostingTally::Key::draw(random)) {}

  absl::StatusOr<ShardCheck> run();

 private:
  absl::Status open_index();
  absl::Status check_runs();
  absl::Status check_log();
  absl::Status compare_postings(const EarlyChanges& early);
  void report(Finding::Part part, std::string_view name, std::string_view what);

  FileSystem& files_;
  const std::string folder_;
  const ShardIdentity identity_;
  const TermHasher hasher_;
  const ShardCheckOptions& options_;
  const PostingTally::Key key_;
  ShardCheck result_;
  FindingList findings_{result_};
  std::optional<Manifest> manifest_;
  std::unique_ptr<DirectoryFile> rows_;
  PostingTally of_log_{key_};
  PostingTally of_runs_{key_};
  bool are_runs_whole_ = true;
};

absl::StatusOr<ShardCheck> Check::run() {
  absl::Status status = open_index();
  if (status.ok()) status = check_runs();
  if (is_older_derived_version(status)) {
    // Whatever stands in it means nothing: the next start makes it again.
    result_ = {};
    result_.is_index_outdated = true;
    manifest_.reset();
    rows_.reset();
    status = absl::OkStatus();
  }
  if (!status.ok()) return status;
  if (status = check_log(); !status.ok()) return status;
  return std::move(result_);
}

absl::Status Check::open_index() {
  auto manifest = read_manifest(files_, concat(folder_, "/manifest"), identity_);
  if (absl::IsNotFound(manifest.status())) return absl::OkStatus();
  if (is_older_derived_version(manifest.status())) return manifest.status();
  if (absl::IsDataLoss(manifest.status())) {
    report(Finding::Part::kManifest, "manifest", "it is damaged, or of another shard or version");
    return absl::OkStatus();
  }
  if (!manifest.ok()) return manifest.status();
  manifest_ = *std::move(manifest);
  auto rows = DirectoryFile::open(files_, concat(folder_, "/directory"), manifest_->directory_rows);
  if (!is_older_derived_version(rows.status()) && absl::IsDataLoss(rows.status())) {
    report(Finding::Part::kDirectory, "directory", std::string(rows.status().message()));
    return absl::OkStatus();
  }
  if (!rows.ok()) return rows.status();
  rows_ = *std::move(rows);
  return absl::OkStatus();
}

absl::Status Check::check_runs() {
  if (!manifest_) return absl::OkStatus();
  RunCheck runs(files_, folder_, rows_.get(), manifest_->directory_rows, findings_, result_,
                options_.advance);
  const auto check_all = [&](const std::vector<std::string>& names, const RunCheck::Visit& visit) {
    for (const std::string& name : names) {
      const auto is_whole = runs.check(name, visit);
      if (!is_whole.ok()) return is_whole.status();
      are_runs_whole_ = are_runs_whole_ && *is_whole;
    }
    return absl::OkStatus();
  };
  absl::Status status = check_all(manifest_->runs, [this](const RunPosting& posting) {
    ++result_.postings;
    of_runs_.add(posting);
  });
  if (!status.ok()) return status;
  return check_all(manifest_->dead_runs, [this](const RunPosting& posting) {
    ++result_.dead_postings;
    of_runs_.subtract(posting);
  });
}

absl::Status Check::check_log() {
  const Manifest* const manifest = manifest_ ? &*manifest_ : nullptr;
  const LogPosition durable_until = manifest_ ? manifest_->log_position : LogPosition();
  const auto depth =
      options_.verifies_signatures ? EventCheck::Depth::kSignature : EventCheck::Depth::kId;
  LogCheck log({folder_, hasher_, manifest, rows_.get()}, depth, of_log_, findings_, result_,
               options_.advance);
  const auto extent = walk_log(files_, folder_, durable_until, log);
  if (!extent.ok()) return extent.status();
  if (absl::Status status = log.finish(*extent); !status.ok()) return status;
  // What is lost on one side would be a difference for each posting of it.
  if (rows_ == nullptr || !are_runs_whole_ || !log.are_postings_known()) return absl::OkStatus();
  EarlyChanges early{log.early_deaths(), {}};
  if (log.has_later_supersedings() && !log.late_addresses().empty()) {
    EarlySupersedings walk(log, *rows_, hasher_);
    const auto walked = walk_log(files_, folder_, manifest->log_position, walk);
    if (!walked.ok()) return walked.status();
    early.supersedings = walk.found();
  }
  return compare_postings(early);
}

absl::Status Check::compare_postings(const EarlyChanges& early) {
  const PostingSides sides{files_, folder_, hasher_, *manifest_, *rows_, early};
  if (!early.is_empty()) {
    if (absl::Status status = restore_postings(sides, of_log_); !status.ok()) return status;
  }
  const std::vector<std::uint32_t> buckets = of_log_.differences(of_runs_);
  if (buckets.empty()) return absl::OkStatus();
  return find_posting_differences(sides, of_log_, buckets, result_.postings, findings_);
}

void Check::report(Finding::Part part, std::string_view name, std::string_view what) {
  findings_.add({part, concat(folder_, "/", name), std::nullopt, std::nullopt, std::string(what)});
}

bool is_read_by_check(std::string_view name) {
  return parse_segment_name(name) != 0 || name == "directory" || name.starts_with("run-") ||
         name.starts_with("dead-");
}

}  // namespace

std::string_view cure_of(Finding::Part part) {
  if (part == Finding::Part::kLog) {
    return "`gyre check --repair` keeps every whole record and lists what is lost; a backup may "
           "have it";
  }
  return "`gyre check --repair` makes the index again from the log; nothing is lost";
}

std::string describe(const Finding& finding) {
  std::string text = finding.path;
  if (finding.offset) text = concat(text, " at offset ", *finding.offset);
  if (finding.sequence) text = concat(text, ", event ", *finding.sequence);
  return concat(text, ": ", finding.what);
}

absl::StatusOr<ShardCheck> check_shard(FileSystem& files, const ShardPlace& place,
                                       const ShardCheckOptions& options, Random& random) {
  return Check(files, place, options, random).run();
}

absl::StatusOr<std::uint64_t> bytes_to_check(FileSystem& files, std::string_view folder) {
  const auto names = files.list(folder);
  if (!names.ok()) return names.status();
  std::uint64_t bytes = 0;
  for (const std::string& name : *names) {
    if (!is_read_by_check(name)) continue;
    auto file = files.open(concat(folder, "/", name), FileSystem::OpenMode::kRead);
    if (!file.ok()) return file.status();
    const auto size = (*file)->size();
    if (!size.ok()) return size.status();
    bytes += *size;
  }
  return bytes;
}

}  // namespace gyre::storage

#include "storage/shard_manifest.h"

#include <algorithm>
#include <utility>

#include "gyre/base/log.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::string_view kManifestName = "manifest";
constexpr std::string_view kRunPrefix = "run-";
constexpr std::string_view kDeadRunPrefix = "dead-";
constexpr std::size_t kRunDigits = 8;

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace

absl::Status ShardManifest::load() {
  auto found = read_manifest(files_, path_of(kManifestName), durable_.identity);
  if (found.ok()) {
    durable_ = *std::move(found);
    // A process that was killed may have renamed it and not synced its name.
    if (absl::Status status = files_.sync_directory(folder_); !status.ok()) return status;
  } else if (!absl::IsNotFound(found.status())) {
    return found.status();
  }
  next_run_number_ = durable_.next_run_number;
  return remove_unnamed_runs();
}

absl::Status ShardManifest::forget() {
  durable_ = {.identity = durable_.identity};
  next_run_number_ = durable_.next_run_number;
  if (absl::Status status = files_.remove(path_of(kManifestName)); !status.ok()) return status;
  // Before anything else is written: a power cut that brought it back would find files that it does
  // not describe.
  if (absl::Status status = files_.sync_directory(folder_); !status.ok()) return status;
  return remove_unnamed_runs();
}

std::string ShardManifest::path_of(std::string_view name) const {
  return concat(folder_, "/", name);
}

std::string ShardManifest::next_run_name() {
  return concat(kRunPrefix, zero_padded(next_run_number_++, kRunDigits));
}

std::string ShardManifest::next_dead_run_name() {
  return concat(kDeadRunPrefix, zero_padded(next_run_number_++, kRunDigits));
}

ShardManifest::Draft ShardManifest::draft() const {
  Draft draft;
  draft.manifest = durable_;
  draft.manifest.next_run_number = next_run_number_;
  draft.discarded_ = discarded_;
  return draft;
}

absl::Status ShardManifest::publish(Draft& draft) {
  const std::string path = path_of(kManifestName);
  if (absl::Status status = stage_manifest(files_, path, draft.manifest); !status.ok()) {
    return status;
  }
  draft.may_be_durable_ = true;
  if (absl::Status status = publish_manifest(files_, path); !status.ok()) return status;
  for (const std::string& name : draft.discarded_) remove_now(name);
  return absl::OkStatus();
}

void ShardManifest::install(const Draft& draft) {
  durable_ = draft.manifest;
  std::erase_if(discarded_,
                [&draft](const std::string& name) { return contains(draft.discarded_, name); });
}

// Failing leaves a file that the next start removes.
void ShardManifest::remove_now(std::string_view name) const {
  const std::string path = path_of(name);
  if (!files_.exists(path)) return;
  const absl::Status status = files_.remove(path);
  if (!status.ok()) GYRE_LOG(kWarning, "%s", status.ToString().c_str());
}

bool ShardManifest::is_run_name(std::string_view name) {
  return name.starts_with(kRunPrefix) || name.starts_with(kDeadRunPrefix);
}

// What checkpoints and merges left behind that were not finished, and what merges were about to
// remove.
absl::Status ShardManifest::remove_unnamed_runs() const {
  const auto names = files_.list(folder_);
  if (!names.ok()) return names.status();
  for (const std::string& name : *names) {
    const bool is_named = contains(durable_.runs, name) || contains(durable_.dead_runs, name);
    if (is_run_name(name) && !is_named) remove_now(name);
  }
  return absl::OkStatus();
}

}  // namespace gyre::storage

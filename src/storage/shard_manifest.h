// ShardManifest: the manifest of a shard as it is known to be on the disk, the names of new files,
// and the end of old ones.
//
// Writing a manifest can fail in a way that leaves open which of the two is on the disk. So every
// new file has a name that no manifest has ever had, and a file goes only after a manifest without
// it has become durable.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "gyre/storage/manifest.h"

namespace gyre::storage {

class ShardManifest {
 public:
  ShardManifest(FileSystem& files, std::string folder, const ShardIdentity& identity)
      : files_(files), folder_(std::move(folder)) {
    durable_.identity = identity;
  }

  // Reads what is there; no manifest is one of a store without checkpoints. Makes sure that it is
  // durable, and removes the runs that it does not name.
  [[nodiscard]] absl::Status load();
  // Removes it for good. Without it no row and no run counts.
  [[nodiscard]] absl::Status forget();

  [[nodiscard]] const Manifest& durable() const { return durable_; }
  [[nodiscard]] FileSystem& files() const { return files_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }
  [[nodiscard]] std::string path_of(std::string_view name) const;

  // Of files to come.
  [[nodiscard]] std::string next_run_name();
  [[nodiscard]] std::string next_dead_run_name();

  // What a job writes as the next manifest, and what became of it.
  class Draft {
   public:
    Manifest manifest;
    // True if the manifest on the disk may be this one, although publish() failed.
    [[nodiscard]] bool may_be_durable() const { return may_be_durable_; }

   private:
    friend class ShardManifest;
    std::vector<std::string> discarded_;
    bool may_be_durable_ = false;
  };
  // The durable one, to be changed. Shard's thread.
  [[nodiscard]] Draft draft() const;
  // Worker's thread; then removes what was discarded before the draft was made.
  [[nodiscard]] absl::Status publish(Draft& draft);
  // Shard's thread, after publish() succeeded.
  void install(const Draft& draft);

  // The file is to go with the next manifest that does not name it. Shard's thread.
  void discard(std::string name) { discarded_.push_back(std::move(name)); }
  // Removes a file that no manifest can name, if it is there. Any thread.
  void remove_now(std::string_view name) const;

 private:
  [[nodiscard]] static bool is_run_name(std::string_view name);
  absl::Status remove_unnamed_runs() const;

  FileSystem& files_;
  const std::string folder_;
  Manifest durable_;
  std::uint32_t next_run_number_ = 1;
  std::vector<std::string> discarded_;
};

}  // namespace gyre::storage

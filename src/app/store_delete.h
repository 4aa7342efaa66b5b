// `gyre delete`: makes events of a store dead that no relay has open, as its operator.
//
// The author's deletions leave tombstones behind; the operator's do not: whoever has the event may
// publish it again, unless the relay's configuration refuses it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "app/offline_store.h"

namespace gyre::app {

struct DeleteOptions {
  std::string store_path;
  std::vector<std::string> filters;  // Any of them; a filter's own limit counts for each shard.
  bool may_be_everything = false;    // Filters that exclude nothing are refused without it.
};

class StoreDeletion {
 public:
  // Finds what is to be deleted, and changes nothing. kCancelled if it was interrupted.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<StoreDeletion>> open(
      const DeleteOptions& options);

  [[nodiscard]] std::uint64_t count() const;
  // The first few, as JSON.
  [[nodiscard]] const std::vector<std::string>& sample() const { return sample_; }

  // Does it. If it is interrupted, what has been done until then is kept: done() tells.
  [[nodiscard]] absl::Status carry_out();
  [[nodiscard]] std::uint64_t done() const { return done_; }
  [[nodiscard]] absl::Status close() { return store_->close(); }

 private:
  StoreDeletion() = default;
  [[nodiscard]] absl::Status find(const std::vector<nostr::Filter>& filters);
  [[nodiscard]] bool is_everything(const std::vector<nostr::Filter>& filters) const;
  [[nodiscard]] absl::Status retire_some(storage::Store& store,
                                         std::span<const storage::Sequence> sequences);

  std::unique_ptr<OfflineStore> store_;
  std::vector<std::vector<storage::Sequence>> found_;  // By shard.
  std::vector<std::string> sample_;
  std::uint64_t done_ = 0;
};

}  // namespace gyre::app

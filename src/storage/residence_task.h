// ResidenceTask: after a start, brings the index into memory, to stay there if the limits allow,
// and says once if they do not.
//
// Until then queries fault it in as they go. So a start takes no longer with a larger store.
#pragma once

#include <string>

#include "gyre/storage/directory.h"
#include "gyre/storage/posting_index.h"
#include "storage/background_task.h"

namespace gyre::storage {

class ResidenceTask final : public BackgroundTask {
 public:
  ResidenceTask(std::string folder, Directory& directory, PostingIndex& postings,
                PostingIndex& dead_postings)
      : folder_(std::move(folder)),
        directory_(directory),
        postings_(postings),
        dead_postings_(dead_postings) {}

  [[nodiscard]] bool prepare() override { return !is_done_; }
  [[nodiscard]] absl::Status run() override;
  void finish(const absl::Status& result) override;

  [[nodiscard]] const Residence& residence() const { return residence_; }

 private:
  const std::string folder_;
  Directory& directory_;
  PostingIndex& postings_;
  PostingIndex& dead_postings_;
  Residence residence_;
  bool is_complete_ = false;  // The worker's until finish().
  bool is_done_ = false;
};

}  // namespace gyre::storage

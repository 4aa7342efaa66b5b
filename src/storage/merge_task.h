// MergeTask: makes few runs of many, so that a query looks into few files.
//
// A merge is done in slices: between two of them the worker is free for checkpoints. Then the
// manifest names the new run instead of its inputs, the index does the same, and the inputs are
// removed. A merge that fails has changed nothing and begins again later: without it queries are
// slower, nothing else.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gyre/base/clock.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/posting_index.h"
#include "storage/background_task.h"
#include "storage/run_merger.h"
#include "storage/shard_manifest.h"

namespace gyre::storage {

class MergeTask final : public BackgroundTask {
 public:
  MergeTask(ShardManifest& manifest, const Directory& directory, PostingIndex& postings,
            PostingIndex& dead_postings, const Clock& clock)
      : manifest_(manifest),
        directory_(directory),
        postings_(postings),
        dead_postings_(dead_postings),
        clock_(clock) {}

  [[nodiscard]] bool prepare() override;
  [[nodiscard]] absl::Status run() override;
  void finish(const absl::Status& result) override;

  // Gives up a merge under way, for the end. Requires: the worker rests.
  void abandon();

  [[nodiscard]] bool is_under_way() const { return state_ != State::kIdle; }
  [[nodiscard]] std::uint64_t completed_count() const { return completed_count_; }
  [[nodiscard]] std::uint64_t failed_count() const { return failed_count_; }
  // Written by all merges that were completed.
  [[nodiscard]] std::uint64_t merged_postings() const { return merged_postings_; }

 private:
  enum class State : std::uint8_t {
    kIdle,
    kMerging,   // A slice at a time, until the manifest that names the output is durable.
    kRemoving,  // The inputs are in use no more.
  };
  [[nodiscard]] bool begin();
  void choose_inputs();
  [[nodiscard]] std::uint64_t version() const {
    return postings_.version() + dead_postings_.version();
  }
  [[nodiscard]] absl::Status merge_slice();
  [[nodiscard]] absl::Status take_outputs();
  void drop_outputs();
  void remove_inputs();
  void install();
  void note_failure(const absl::Status& failure);

  ShardManifest& manifest_;
  const Directory& directory_;
  PostingIndex& postings_;
  PostingIndex& dead_postings_;
  const Clock& clock_;

  State state_ = State::kIdle;
  RunMerger::Runs inputs_;
  RunMerger::Outputs outputs_;
  std::unique_ptr<RunMerger> merger_;
  ShardManifest::Draft draft_;
  // The worker's until finish(). An output without postings has lost its name.
  bool is_published_ = false;
  std::uint64_t written_postings_ = 0;

  // Nothing was worth a merge at this version of the indexes.
  std::uint64_t idle_version_ = UINT64_MAX;
  std::uint64_t retry_at_ns_ = 0;
  std::uint64_t retry_delay_ns_ = 0;
  std::uint64_t completed_count_ = 0;
  std::uint64_t failed_count_ = 0;
  std::uint64_t merged_postings_ = 0;
};

}  // namespace gyre::storage

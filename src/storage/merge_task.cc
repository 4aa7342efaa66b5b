#include "storage/merge_task.h"

#include <algorithm>
#include <utility>

#include "gyre/base/log.h"

namespace gyre::storage {
namespace {

// What fails is most often a full disk, and a large merge that fails at its end is a large waste.
constexpr std::uint64_t kRetryMinNs = 5'000'000'000;
constexpr std::uint64_t kRetryMaxNs = 600'000'000'000;

}  // namespace

bool MergeTask::prepare() {
  if (state_ == State::kIdle && !begin()) return false;
  if (state_ == State::kMerging) {
    // A checkpoint may have changed the manifest since the last slice.
    draft_ = manifest_.draft();
    std::vector<std::string>& runs = draft_.manifest.runs;
    std::erase_if(runs, [this](const std::string& run) {
      return std::find(inputs_.begin(), inputs_.end(), run) != inputs_.end();
    });
    runs.push_back(output_);
  }
  return true;
}

bool MergeTask::begin() {
  if (postings_.version() == idle_version_ || clock_.monotonic_ns() < retry_at_ns_) return false;
  inputs_ = postings_.choose_merge();
  if (inputs_.empty()) {
    idle_version_ = postings_.version();
    return false;
  }
  output_ = manifest_.next_run_name();
  state_ = State::kMerging;
  return true;
}

absl::Status MergeTask::run() {
  if (state_ == State::kRemoving) {
    remove_inputs();
    return absl::OkStatus();
  }
  absl::Status status = merge_slice();
  if (!status.ok()) drop_output();
  return status;
}

absl::Status MergeTask::merge_slice() {
  if (merger_ == nullptr) {
    auto merger =
        RunMerger::create(manifest_.files(), manifest_.folder(), inputs_, output_, directory_);
    if (!merger.ok()) return merger.status();
    merger_ = *std::move(merger);
  }
  if (absl::Status status = merger_->step(postings_.options().merge_slice_postings); !status.ok())
    return status;
  if (!merger_->is_finished()) return absl::OkStatus();
  merger_.reset();
  if (absl::Status status = postings_.take_merged_run(output_); !status.ok()) return status;
  if (absl::Status status = manifest_.publish(draft_); !status.ok()) return status;
  is_published_ = true;
  return absl::OkStatus();
}

// At once: a merge that failed for want of space gives back what it took.
void MergeTask::drop_output() {
  merger_.reset();
  if (!draft_.may_be_durable()) manifest_.remove_now(output_);
}

void MergeTask::remove_inputs() {
  postings_.release_merged();
  for (const std::string& input : inputs_) manifest_.remove_now(input);
}

void MergeTask::finish(const absl::Status& result) {
  if (!result.ok()) {
    note_failure(result);
  } else if (state_ == State::kRemoving) {
    state_ = State::kIdle;
  } else if (is_published_) {
    install();
  }
}

void MergeTask::install() {
  is_published_ = false;
  merged_postings_ += postings_.install_merged_run(inputs_, output_);
  manifest_.install(draft_);
  state_ = State::kRemoving;
  ++completed_count_;
  retry_delay_ns_ = 0;
}

void MergeTask::note_failure(const absl::Status& failure) {
  retry_delay_ns_ = std::clamp(2 * retry_delay_ns_, kRetryMinNs, kRetryMaxNs);
  retry_at_ns_ = clock_.monotonic_ns() + retry_delay_ns_;
  ++failed_count_;
  GYRE_LOG(kWarning,
           "merging %zu runs of %s failed and will be tried again in %llu s; until then queries "
           "look into more files: %s",
           inputs_.size(), manifest_.folder().c_str(),
           static_cast<unsigned long long>(retry_delay_ns_ / 1'000'000'000),
           failure.ToString().c_str());
  if (draft_.may_be_durable()) manifest_.discard(output_);
  state_ = State::kIdle;
}

void MergeTask::abandon() {
  if (state_ == State::kMerging) drop_output();
  if (state_ == State::kRemoving) remove_inputs();
  state_ = State::kIdle;
}

}  // namespace gyre::storage

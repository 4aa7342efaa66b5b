#include "storage/merge_task.h"

#include <algorithm>
#include <utility>

#include "gyre/base/log.h"

namespace gyre::storage {
namespace {

// What fails is most often a full disk, and a large merge that fails at its end is a large waste.
constexpr std::uint64_t kRetryMinNs = 5'000'000'000;
constexpr std::uint64_t kRetryMaxNs = 600'000'000'000;

// Dead postings take part in a merge of at least so many times as many others.
constexpr std::uint64_t kDeadShare = 8;

void replace_names(const std::vector<std::string>& old_names, const std::string& new_name,
                   std::vector<std::string>& names) {
  std::erase_if(names, [&old_names](const std::string& name) {
    return std::find(old_names.begin(), old_names.end(), name) != old_names.end();
  });
  if (!new_name.empty()) names.push_back(new_name);
}

}  // namespace

bool MergeTask::prepare() {
  if (state_ == State::kIdle && !begin()) return false;
  // A checkpoint may have changed the manifest since the last slice.
  if (state_ == State::kMerging) draft_ = manifest_.draft();
  return true;
}

bool MergeTask::begin() {
  if (version() == idle_version_ || clock_.monotonic_ns() < retry_at_ns_) return false;
  choose_inputs();
  if (inputs_.live.empty() && inputs_.dead.empty()) {
    idle_version_ = version();
    return false;
  }
  outputs_ = {manifest_.next_run_name(), manifest_.next_dead_run_name()};
  state_ = State::kMerging;
  return true;
}

// Dead postings find their partners only if they are read, all of them: that is worth it in a merge
// that is large beside them.
void MergeTask::choose_inputs() {
  inputs_ = {};
  inputs_.live = postings_.choose_merge();
  if (inputs_.live.empty()) {
    inputs_.dead = dead_postings_.choose_merge();
  } else if (dead_postings_.run_posting_count() * kDeadShare <=
             postings_.posting_count_of(inputs_.live)) {
    inputs_.dead = dead_postings_.run_names();
  }
}

absl::Status MergeTask::run() {
  if (state_ == State::kRemoving) {
    remove_inputs();
    return absl::OkStatus();
  }
  absl::Status status = merge_slice();
  if (!status.ok()) drop_outputs();
  return status;
}

absl::Status MergeTask::merge_slice() {
  if (merger_ == nullptr) {
    auto merger =
        RunMerger::create(manifest_.files(), manifest_.folder(), inputs_, outputs_, directory_);
    if (!merger.ok()) return merger.status();
    merger_ = *std::move(merger);
  }
  const std::uint64_t slice = postings_.options().merge_slice_postings;
  if (absl::Status status = merger_->step(slice); !status.ok()) return status;
  if (!merger_->is_finished()) return absl::OkStatus();
  if (absl::Status status = take_outputs(); !status.ok()) return status;
  if (absl::Status status = manifest_.publish(draft_); !status.ok()) return status;
  is_published_ = true;
  return absl::OkStatus();
}

absl::Status MergeTask::take_outputs() {
  written_postings_ = merger_->written_postings();
  if (!merger_->has_live_output()) outputs_.live.clear();
  if (!merger_->has_dead_output()) outputs_.dead.clear();
  merger_.reset();
  if (!outputs_.live.empty()) {
    if (absl::Status status = postings_.take_merged_run(outputs_.live); !status.ok()) {
      return status;
    }
  }
  if (!outputs_.dead.empty()) {
    if (absl::Status status = dead_postings_.take_merged_run(outputs_.dead); !status.ok()) {
      return status;
    }
  }
  replace_names(inputs_.live, outputs_.live, draft_.manifest.runs);
  replace_names(inputs_.dead, outputs_.dead, draft_.manifest.dead_runs);
  return absl::OkStatus();
}

// At once: a merge that failed for want of space gives back what it took.
void MergeTask::drop_outputs() {
  merger_.reset();
  if (draft_.may_be_durable()) return;
  for (const std::string& output : {outputs_.live, outputs_.dead}) {
    if (!output.empty()) manifest_.remove_now(output);
  }
}

void MergeTask::remove_inputs() {
  postings_.release_merged();
  dead_postings_.release_merged();
  for (const std::string& input : inputs_.live) manifest_.remove_now(input);
  for (const std::string& input : inputs_.dead) manifest_.remove_now(input);
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
  postings_.install_merged_run(inputs_.live, outputs_.live);
  dead_postings_.install_merged_run(inputs_.dead, outputs_.dead);
  manifest_.install(draft_);
  merged_postings_ += written_postings_;
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
           inputs_.live.size() + inputs_.dead.size(), manifest_.folder().c_str(),
           static_cast<unsigned long long>(retry_delay_ns_ / 1'000'000'000),
           failure.ToString().c_str());
  state_ = State::kIdle;
  if (!draft_.may_be_durable()) return;
  for (const std::string& output : {outputs_.live, outputs_.dead}) {
    if (!output.empty()) manifest_.discard(output);
  }
}

void MergeTask::abandon() {
  if (state_ == State::kMerging) drop_outputs();
  if (state_ == State::kRemoving) remove_inputs();
  state_ = State::kIdle;
}

}  // namespace gyre::storage

#include "storage/compaction_task.h"

#include <algorithm>
#include <utility>

#include "gyre/base/ids.h"
#include "gyre/base/log.h"
#include "storage/log_segment.h"

namespace gyre::storage {
namespace {

// A fifth of a second or so: so long a checkpoint may have to wait for the worker.
constexpr Sequence kSliceRows = 10'000'000;
// A survey is worth its while when this part of all rows has died since the last one.
constexpr std::uint64_t kSurveyShare = 64;
// In a hurry.
constexpr std::uint64_t kHurriedSurveyShare = 1024;
constexpr double kHurriedDeadShare = 0.05;
constexpr std::uint64_t kRetryMinNs = 10'000'000'000;
constexpr std::uint64_t kRetryMaxNs = 600'000'000'000;

}  // namespace

CompactionTask::CompactionTask(const ShardManifest& manifest, const Directory& directory,
                               EventLog& log, const CheckpointTask& checkpoint,
                               const TermHasher& hasher, Random& random, const Clock& clock,
                               const CompactionOptions& options)
    : manifest_(manifest),
      log_(log),
      checkpoint_(checkpoint),
      random_(random),
      clock_(clock),
      options_(options),
      sources_{.place = {manifest.files(), manifest.folder(), manifest.durable().identity},
               .segments = {},
               .directory = &directory,
               .rows = 0,
               .hasher = &hasher} {}

void CompactionTask::compact_all() {
  is_wanted_ = true;
  retry_at_ns_ = 0;
}

bool CompactionTask::prepare() {
  if (state_ == State::kDispose) return !std::exchange(was_replaced_now_, false);
  if (state_ == State::kIdle) {
    if (!is_survey_due()) return false;
    begin_survey();
  }
  if (state_ == State::kSurvey) return true;
  // Between two slices a checkpoint may have failed.
  if (!may_compact()) return false;
  if (compactor_ != nullptr) return true;
  take_sources();
  segment_id_ = random_.next_u64();
  return true;
}

bool CompactionTask::may_compact() const {
  if (clock_.monotonic_ns() < retry_at_ns_ || checkpoint_.has_failed()) return false;
  return !ahead_at_ || checkpoint_.completed_count() > *ahead_at_;
}

bool CompactionTask::is_survey_due() const {
  if (!may_compact() || (options_.dead_share >= 1 && !is_wanted_)) return false;
  if (is_wanted_) return true;
  const Manifest& manifest = manifest_.durable();
  if (manifest.log_position.segment() <= kFirstSegment) return false;
  const std::uint64_t dead = manifest.directory_rows - manifest.events_alive;
  if (!dead_at_survey_) return dead != 0;
  const std::uint64_t share = has_to_hurry_ ? kHurriedSurveyShare : kSurveyShare;
  return dead - std::min(dead, *dead_at_survey_) > manifest.directory_rows / share;
}

double CompactionTask::bytes_of_event(std::uint64_t events_alive) const {
  if (bytes_of_event_ != 0 || events_alive == 0) return bytes_of_event_;
  return static_cast<double>(log_.bytes_on_disk()) / static_cast<double>(events_alive);
}

void CompactionTask::take_sources() {
  const Manifest& manifest = manifest_.durable();
  sources_.segments = log_.segments_up_to(manifest.log_position.segment());
  sources_.rows = manifest.directory_rows;
}

void CompactionTask::begin_survey() {
  const Manifest& manifest = manifest_.durable();
  dead_at_survey_ = manifest.directory_rows - manifest.events_alive;
  is_forced_ = std::exchange(is_wanted_, false);
  take_sources();
  survey_.emplace(sources_);
  state_ = State::kSurvey;
}

absl::Status CompactionTask::run() {
  switch (state_) {
    case State::kIdle: break;
    case State::kSurvey: is_survey_done_ = survey_->step(kSliceRows); break;
    case State::kDispose: replaced_.reset(); break;
    case State::kCompact: {
      if (compactor_ == nullptr) {
        const SegmentTally& next = queue_.back();
        auto compactor =
            SegmentCompactor::create(sources_, next.number, segment_id_,
                                     next.file_bytes - std::min(next.file_bytes, next.dead_bytes));
        if (!compactor.ok()) return compactor.status();
        compactor_ = *std::move(compactor);
      }
      absl::Status status = compactor_->step(options_.slice_bytes);
      // At once: on a full disk it would be in the way of everybody.
      if (!status.ok()) compactor_.reset();
      return status;
    }
  }
  return absl::OkStatus();
}

void CompactionTask::finish(const absl::Status& result) {
  if (!result.ok()) {
    note_failure(result);
  } else if (state_ == State::kSurvey) {
    if (std::exchange(is_survey_done_, false)) take_survey();
  } else if (state_ == State::kCompact) {
    if (compactor_->is_finished()) take_compacted();
  } else if (state_ == State::kDispose) {
    state_ = queue_.empty() ? State::kIdle : State::kCompact;
  }
}

void CompactionTask::take_survey() {
  SegmentTally sum;
  for (const SegmentTally& tally : survey_->tallies()) {
    sum.file_bytes += tally.file_bytes;
    sum.dead_bytes += tally.dead_bytes;
    sum.events_alive += tally.events_alive;
  }
  statistics_.dead_bytes = sum.dead_bytes;
  if (sum.events_alive != 0) {
    bytes_of_event_ =
        static_cast<double>(sum.file_bytes - std::min(sum.file_bytes, sum.dead_bytes)) /
        static_cast<double>(sum.events_alive);
  }
  CompactionOptions options = options_;
  if (has_to_hurry_) options.dead_share = std::min(options.dead_share, kHurriedDeadShare);
  if (is_forced_) options.dead_share = 0;
  queue_ = choose_for_compaction(survey_->tallies(), options);
  std::erase_if(queue_, [this](const SegmentTally& t) { return refused_.contains(t.number); });
  std::reverse(queue_.begin(), queue_.end());
  survey_.reset();
  state_ = queue_.empty() ? State::kIdle : State::kCompact;
}

void CompactionTask::take_compacted() {
  std::unique_ptr<LogSegment> compacted = compactor_->take_compacted();
  compactor_.reset();
  const std::uint64_t bytes = compacted->file_bytes();
  replaced_ = log_.replace_segment(std::move(compacted));
  was_replaced_now_ = true;
  const std::uint64_t given_back =
      replaced_->file_bytes() - std::min(replaced_->file_bytes(), bytes);
  ++statistics_.segments_compacted;
  statistics_.bytes_given_back += given_back;
  GYRE_LOG(kDebug, "%s/%s compacted: %llu KiB of %llu KiB given back", manifest_.folder().c_str(),
           segment_name(queue_.back().number).c_str(),
           static_cast<unsigned long long>(given_back / kKiB),
           static_cast<unsigned long long>(replaced_->file_bytes() / kKiB));
  statistics_.dead_bytes -= std::min(statistics_.dead_bytes, queue_.back().dead_bytes);
  queue_.pop_back();
  retry_delay_ns_ = 0;
  state_ = State::kDispose;
}

void CompactionTask::note_failure(const absl::Status& failure) {
  ++statistics_.failures;
  const SegmentTally tally = queue_.back();
  if (absl::IsDataLoss(failure)) {
    GYRE_LOG(kError, "%s", failure.ToString().c_str());
    refused_.insert(tally.number);
    queue_.pop_back();
  } else {
    retry_delay_ns_ = std::clamp(2 * retry_delay_ns_, kRetryMinNs, kRetryMaxNs);
    retry_at_ns_ = clock_.monotonic_ns() + retry_delay_ns_;
    GYRE_LOG(kWarning,
             "%s/%s cannot be compacted now, which needs %llu KiB of free space for a while; tried "
             "again in %llu s: %s",
             manifest_.folder().c_str(), segment_name(tally.number).c_str(),
             static_cast<unsigned long long>((tally.file_bytes - tally.dead_bytes) / kKiB + 1),
             static_cast<unsigned long long>(retry_delay_ns_ / 1'000'000'000),
             failure.ToString().c_str());
  }
  if (queue_.empty()) state_ = State::kIdle;
}

void CompactionTask::abandon() {
  survey_.reset();
  compactor_.reset();
  replaced_.reset();
  queue_.clear();
  is_wanted_ = false;
  state_ = State::kIdle;
}

}  // namespace gyre::storage

#include "storage/dead_share_survey.h"

#include <algorithm>
#include <utility>

#include "gyre/nostr/kind.h"
#include "storage/log_format.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kMarkRecordBytes = 80;  // An address mark without a list.

// What an event's record of `bytes` would give back. Requests stay, dead or alive.
std::uint64_t gain_of(const DirectoryRow& row, std::uint64_t bytes) {
  switch (nostr::kind_class(row.kind)) {
    case nostr::KindClass::kReplaceable:
    case nostr::KindClass::kAddressable:
      return (row.flags & kRowSuperseded) != 0 ? bytes : bytes - std::min(bytes, kMarkRecordBytes);
    case nostr::KindClass::kRegular:
    case nostr::KindClass::kEphemeral: break;
  }
  const bool is_request = row.kind == nostr::kKindDeletion || row.kind == nostr::kKindVanish;
  return is_request ? 0 : bytes;
}

// Where the records of a segment end, by the offsets that rows know.
std::uint32_t end_as_written(const LogSegment& segment) {
  return segment.offset_table() != nullptr ? segment.header().end_as_written
                                           : static_cast<std::uint32_t>(segment.file_bytes());
}

std::uint64_t bytes_up_to(const LogSegment& segment, LogPosition begin, LogPosition next) {
  const std::uint32_t end =
      next.segment() == begin.segment() ? next.offset() : end_as_written(segment);
  return end - std::min(end, begin.offset());
}

}  // namespace

DeadShareSurvey::DeadShareSurvey(const CompactionSources& sources) : sources_(sources) {
  for (std::uint32_t number = kFirstSegment; number < sources.end(); ++number) {
    tallies_.push_back({.number = number, .file_bytes = sources.segment(number).file_bytes()});
  }
}

bool DeadShareSurvey::step(Sequence rows) {
  const Sequence end = next_row_ + std::min(rows, sources_.rows - next_row_);
  for (; next_row_ < end; ++next_row_) {
    const DirectoryRow row = sources_.directory->checkpointed_row(next_row_);
    count(last_, row.position);
    last_ = row;
  }
  if (next_row_ < sources_.rows) return false;
  count(std::exchange(last_, {}), LogPosition::at(sources_.end(), 0));
  return true;
}

void DeadShareSurvey::count(const DirectoryRow& row, LogPosition next) {
  const std::uint32_t number = row.position.segment();
  if (!is_row_of_event(row) || number < kFirstSegment || number >= sources_.end()) return;
  SegmentTally& tally = tallies_[number - kFirstSegment];
  if ((row.flags & kRowDead) == 0) {
    ++tally.events_alive;
    return;
  }
  const LogSegment& segment = sources_.segment(number);
  const std::uint64_t bytes = segment.offset_table() != nullptr
                                  ? bytes_in_compacted(segment, row.position.offset())
                                  : bytes_up_to(segment, row.position, next);
  tally.dead_bytes += gain_of(row, bytes);
}

// Rows come in the order of the table, so each search goes on where the last one ended.
std::uint64_t DeadShareSurvey::bytes_in_compacted(const LogSegment& segment,
                                                  std::uint32_t as_written) {
  if (table_of_ != segment.header().number) {
    table_of_ = segment.header().number;
    at_ = 0;
  }
  const OffsetTable& table = *segment.offset_table();
  while (at_ < table.size() && table.pair(at_).as_written < as_written) ++at_;
  if (at_ == table.size() || table.pair(at_).as_written != as_written) return 0;
  const std::uint32_t begin = table.pair(at_).in_file;
  const std::uint32_t end =
      at_ + 1 < table.size() ? table.pair(at_ + 1).in_file : segment.header().records_end;
  return end - std::min(end, begin);
}

std::vector<SegmentTally> choose_for_compaction(const std::vector<SegmentTally>& tallies,
                                                const CompactionOptions& options) {
  std::vector<SegmentTally> chosen;
  for (const SegmentTally& tally : tallies) {
    if (tally.dead_bytes < options.gain_bytes_min || tally.dead_share() <= options.dead_share) {
      continue;
    }
    chosen.push_back(tally);
  }
  std::stable_sort(chosen.begin(), chosen.end(),
                   [](const SegmentTally& left, const SegmentTally& right) {
                     return left.dead_share() > right.dead_share();
                   });
  return chosen;
}

}  // namespace gyre::storage

// SegmentCompactor: writes a sealed segment of the log anew without what is dead in it.
//
// Runs in the worker's thread, on what no turn of the shard changes: sealed segments, and rows of
// the directory's file. What is dropped, and what of the dead stays:
//
//     event, alive                      as it is
//     event, dead                       dropped, but for what follows
//       deletion or vanish request      stays as a foreign request: its tombstones hold for ever
//       version of an address that      an address mark: it goes on refusing older versions
//       no newer one superseded
//     foreign request                   as it is
//     address mark                      as it is, until a newer version has come
//     retire lists of what is dropped   the sequences that the log still has, as a retire record
//
// The new file is written under a temporary name, synced, read back and compared; the rename over
// the old one is the only moment that counts. Killed before it, nothing has happened; after it,
// all.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/term.h"
#include "storage/compacted_segment_writer.h"
#include "storage/log_scanner.h"
#include "storage/log_segment.h"

namespace gyre::storage {

// What compaction decides by. All of it stays as it is while a job of the worker runs; between two
// jobs the directory's file may come to know more deaths.
struct CompactionSources {
  LogSegment::Place place;
  // By number from the first segment on; all but the last are sealed, and the log is checkpointed
  // at least to the beginning of the last.
  std::vector<const LogSegment*> segments;
  const Directory* directory;
  Sequence rows;  // Of the directory's file, as its manifest counts them.
  const TermHasher* hasher;

  [[nodiscard]] const LogSegment& segment(std::uint32_t number) const {
    return *segments[number - kFirstSegment];
  }
  // One behind the last segment that may be compacted.
  [[nodiscard]] std::uint32_t end() const {
    return kFirstSegment + static_cast<std::uint32_t>(segments.size()) - 1;
  }
};

class SegmentCompactor {
 public:
  // Begins to compact segment `number`. `id` is random. `bytes_expected` of space are reserved
  // first, so that a full disk is noticed at once: kResourceExhausted. What an earlier attempt left
  // behind is removed. `sources` outlive the compactor.
  // Requires: kFirstSegment <= number < sources.end().
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<SegmentCompactor>> create(
      const CompactionSources& sources, std::uint32_t number, std::uint64_t id,
      std::uint64_t bytes_expected);
  // Unless it has come to its end, the new file is removed and the segment is as it was.
  ~SegmentCompactor();

  // Goes on for about `bytes` of the segment; when all of it is done, the new file has its name.
  // Checkpoints may come between two steps. kDataLoss if segment and directory do not agree, or if
  // the disk gives back other bytes than were written.
  [[nodiscard]] absl::Status step(std::uint64_t bytes);
  [[nodiscard]] bool is_finished() const { return compacted_ != nullptr; }
  // What EventLog::replace_segment wants. Requires: is_finished().
  [[nodiscard]] std::unique_ptr<LogSegment> take_compacted() { return std::move(compacted_); }

 private:
  SegmentCompactor(const CompactionSources& sources, std::uint32_t number,
                   std::unique_ptr<CompactedSegmentWriter> writer);
  [[nodiscard]] bool bring_in(std::uint64_t bytes) const;
  [[nodiscard]] absl::Status finish();
  [[nodiscard]] absl::Status take(const LogRecord& record);
  [[nodiscard]] absl::Status take_event(const LogRecord& record);
  [[nodiscard]] absl::Status take_dead_event(const LogRecord& record, const DirectoryRow& row);
  [[nodiscard]] absl::Status take_mark(const LogRecord& record);
  [[nodiscard]] absl::Status take_retire(const LogRecord& record);
  [[nodiscard]] absl::Status keep(const LogRecord& record);
  [[nodiscard]] absl::Status leave_out_row(const LogRecord& record, RetireReason reason,
                                           std::vector<Sequence> retired);

  [[nodiscard]] absl::StatusOr<DirectoryRow> row_of(Sequence sequence) const;
  // Drops the sequences that no record of the log makes an event of any more.
  [[nodiscard]] absl::Status keep_present(std::vector<Sequence>& sequences) const;
  [[nodiscard]] absl::StatusOr<bool> is_present(Sequence sequence) const;
  [[nodiscard]] Sequence first_row_of(std::uint32_t number) const;
  [[nodiscard]] absl::Status disagreement(std::string_view what) const;

  const CompactionSources& sources_;
  const LogSegment& original_;
  const std::uint64_t end_number_;
  std::unique_ptr<CompactedSegmentWriter> writer_;
  LogScanner scanner_;
  Sequence next_row_;  // The sequence that the next record with a row has.
  std::unique_ptr<LogSegment> compacted_;
};

}  // namespace gyre::storage

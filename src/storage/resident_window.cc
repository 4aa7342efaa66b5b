#include "storage/resident_window.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/ids.h"

namespace gyre::storage {
namespace {

// What the keeper brings in at a time: some milliseconds of a disk.
constexpr std::uint64_t kStepBytes = 4 * kMiB;

}  // namespace

void ResidentWindow::set_bytes_max(std::uint64_t bytes) {
  bytes_max_ = bytes;
  move_begin(end_);
}

void ResidentWindow::add(std::uint32_t number, std::shared_ptr<const File> file,
                         std::uint64_t sealed_bytes) {
  const std::lock_guard lock(mutex_);
  segments_.push_back({number, sealed_bytes, std::move(file)});
}

void ResidentWindow::seal(std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  segments_.back().bytes = bytes;
}

void ResidentWindow::add_compacted(std::uint32_t number, std::shared_ptr<const File> file,
                                   std::uint64_t bytes, std::uint64_t file_bytes) {
  const std::lock_guard lock(mutex_);
  if (file != nullptr) tables_.push_back({number, file, bytes, file_bytes});
  segments_.push_back({number, bytes, std::move(file), true});
}

void ResidentWindow::replace_compacted(std::uint32_t number, std::shared_ptr<const File> file,
                                       std::uint64_t bytes, std::uint64_t file_bytes) {
  const std::lock_guard lock(mutex_);
  const auto table = std::lower_bound(
      tables_.begin(), tables_.end(), number,
      [](const Table& candidate, std::uint32_t wanted) { return candidate.number < wanted; });
  const bool has_table = table != tables_.end() && table->number == number;
  if (file == nullptr) {
    bytes = 0;
    if (has_table) tables_.erase(table);
  } else if (has_table) {
    *table = {number, file, bytes, file_bytes};
  } else {
    tables_.insert(table, {number, file, bytes, file_bytes});
  }
  for (Segment& segment : segments_) {
    if (segment.number == number) segment = {number, bytes, file, true};
  }
}

void ResidentWindow::set_end(LogPosition written) {
  if (written != end_) move_begin(written);
  LogPosition begin = window_begin_;
  if (has_keeper_) {
    begin = std::max(begin, LogPosition{populated_begin_.load(std::memory_order_acquire)});
  }
  begin_ = begin_of_whole(begin);
}

// Places in the window are those in the files, and what is asked for are positions, which differ in
// a compacted segment: one that is not in the window as a whole counts as if it were not at all.
LogPosition ResidentWindow::begin_of_whole(LogPosition begin) const {
  if (begin.offset() == 0 || segments_.empty()) return begin;
  const std::uint32_t index = begin.segment() - segments_.front().number;
  if (begin.segment() < segments_.front().number || index >= segments_.size()) return begin;
  return segments_[index].is_compacted ? LogPosition::at(begin.segment() + 1, 0) : begin;
}

// Lets segments go that lie before the window. It never grows down again, for nobody would bring
// in what is older.
void ResidentWindow::move_begin(LogPosition written) {
  end_ = written;
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments_) {
    if (segment.number < written.segment()) bytes += segment.bytes;
  }
  bytes += written.offset();
  std::uint64_t excess = bytes > bytes_max_ ? bytes - bytes_max_ : 0;
  while (excess > 0 && segments_.front().number < written.segment() &&
         segments_.front().bytes <= excess) {
    excess -= segments_.front().bytes;
    const std::lock_guard lock(mutex_);
    segments_.pop_front();
  }
  if (bytes > bytes_max_) {
    const auto offset = static_cast<std::uint32_t>(excess);
    window_begin_ = std::max(window_begin_, LogPosition::at(segments_.front().number, offset));
  }
  wanted_begin_.store(window_begin_.value, std::memory_order_relaxed);
  wanted_end_.store(written.value, std::memory_order_relaxed);
}

void ResidentWindow::expect_keeper() {
  has_keeper_ = true;
  begin_ = std::max(window_begin_, end_);
  populated_begin_.store(end_.value, std::memory_order_release);
}

// Of each only for a moment under the lock; what is replaced meanwhile is only touched in vain.
bool ResidentWindow::keep_tables(const std::atomic<bool>& is_stopping) {
  for (std::size_t i = 0; !is_stopping.load(std::memory_order_relaxed); ++i) {
    Table table;
    {
      const std::lock_guard lock(mutex_);
      if (i >= tables_.size()) return true;
      table = tables_[i];
    }
    table.file->read_ahead(table.begin, table.end - table.begin);
    if (!table.file->populate(table.begin, table.end - table.begin)) return false;
  }
  return false;
}

bool ResidentWindow::keep_in_memory(const std::atomic<bool>& is_stopping) {
  if (!keep_tables(is_stopping)) return false;
  LogPosition at{wanted_end_.load(std::memory_order_relaxed)};
  while (!is_stopping.load(std::memory_order_relaxed)) {
    const LogPosition wanted{wanted_begin_.load(std::memory_order_relaxed)};
    std::shared_ptr<const File> file;
    LogPosition begin = at;  // Of the step.
    {
      const std::lock_guard lock(mutex_);
      for (auto segment = segments_.rbegin(); segment != segments_.rend(); ++segment) {
        const bool is_here = segment->number == at.segment();
        if (segment->number > at.segment() || (is_here && at.offset() == 0)) continue;
        const std::uint64_t end = is_here ? at.offset() : segment->bytes;
        if (end == 0) continue;
        file = segment->file;
        at = LogPosition::at(segment->number, static_cast<std::uint32_t>(end));
        begin = LogPosition::at(segment->number,
                                static_cast<std::uint32_t>(end - std::min(end, kStepBytes)));
        break;
      }
    }
    if (file == nullptr || at <= wanted) break;
    begin = std::max(begin, wanted);
    // Asked for as a whole first: faults on a mapping of random access read page by page.
    file->read_ahead(begin.offset(), at.offset() - begin.offset());
    if (!file->populate(begin.offset(), at.offset() - begin.offset())) return false;
    // Lower than before only: a later round begins at the top again.
    if (begin.value < populated_begin_.load(std::memory_order_relaxed)) {
      populated_begin_.store(begin.value, std::memory_order_release);
    }
    at = begin;
  }
  return !is_stopping.load(std::memory_order_relaxed);
}

}  // namespace gyre::storage

// ResidentWindow: which end of a log is kept in memory, and how it gets there.
//
// The newest `bytes_max` bytes are the window. New records come into it populated, since the writer
// populates what it has written. What was there before is brought in by a keeper's thread, newest
// first; until the keeper has come to a record, that is not resident. The keeper comes again to
// touch everything, so that the kernel, short of memory, gives up other pages first.
//
// Without a keeper (tools, simulations) the whole window counts as resident at once.
//
// The shard's, but for keep_in_memory().
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "gyre/storage/file.h"
#include "gyre/storage/format.h"

namespace gyre::storage {

class ResidentWindow {
 public:
  explicit ResidentWindow(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  void set_bytes_max(std::uint64_t bytes);
  // The next segment of the log. `sealed_bytes` is 0 for the last one, which grows.
  void add(std::uint32_t number, std::shared_ptr<const File> file, std::uint64_t sealed_bytes);
  // The last segment has its final size.
  void seal(std::uint64_t bytes);
  // The next segment, if that is compacted: records to `bytes`, then a table to `file_bytes`, which
  // is kept in memory whether or not the segment is, since every reading begins with it. Without a
  // file it is in memory already.
  void add_compacted(std::uint32_t number, std::shared_ptr<const File> file, std::uint64_t bytes,
                     std::uint64_t file_bytes);
  // Compaction has given a segment another file. Requires: the file is populated already.
  void replace_compacted(std::uint32_t number, std::shared_ptr<const File> file,
                         std::uint64_t bytes, std::uint64_t file_bytes);
  // What is written ends here. Called in every turn.
  void set_end(LogPosition written);

  [[nodiscard]] bool contains(LogPosition position) const { return position >= begin_; }

  void expect_keeper();
  // The keeper's thread. True if all of the window is in memory now.
  bool keep_in_memory(const std::atomic<bool>& is_stopping);

 private:
  struct Segment {
    std::uint32_t number;
    std::uint64_t bytes;  // 0: grows, or has no file.
    std::shared_ptr<const File> file;
    bool is_compacted = false;
  };
  struct Table {
    std::uint32_t number;
    std::shared_ptr<const File> file;
    std::uint64_t begin;
    std::uint64_t end;
  };
  void move_begin(LogPosition written);
  [[nodiscard]] LogPosition begin_of_whole(LogPosition begin) const;
  bool keep_tables(const std::atomic<bool>& is_stopping);

  std::uint64_t bytes_max_;
  LogPosition begin_;  // Of what is resident.
  LogPosition window_begin_;
  LogPosition end_;
  bool has_keeper_ = false;

  // Shared with the keeper, which locks it to copy one item: nobody waits for a disk under it.
  std::mutex mutex_;
  std::deque<Segment> segments_;  // Of the window, oldest first. Changed by the shard alone.
  std::vector<Table> tables_;     // By number. The same.
  // How far down the keeper has come; and the window, for the keeper.
  std::atomic<std::uint64_t> populated_begin_{0};
  std::atomic<std::uint64_t> wanted_begin_{0};
  std::atomic<std::uint64_t> wanted_end_{0};
};

}  // namespace gyre::storage

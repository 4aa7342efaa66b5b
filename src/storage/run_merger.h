// Merging runs: many small files become one, so that a lookup sees few of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/file.h"
#include "storage/posting_run_writer.h"
#include "storage/run_reader.h"

namespace gyre::storage {

// Which of the runs, given by their posting counts, should become one; empty if none should.
//
// Runs of about the same size are merged four at a time or more, so that a posting is rewritten
// once each time its run grows fourfold, and a store of n tables has about 3 * log4(n) runs.
// `table_postings` is what a full table holds.
[[nodiscard]] std::vector<std::size_t> choose_runs_to_merge(
    std::span<const std::uint64_t> posting_counts, std::uint64_t table_postings);

// Writes the postings of several runs as one. For the worker: touches the files, and rows of the
// directory that are in its file, by Directory::checkpointed_row().
class RunMerger {
 public:
  // Refuses with kResourceExhausted if the disk has no room for the output and something to spare:
  // a merge must not take the space that the log lives on.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<RunMerger>> create(
      FileSystem& files, std::string_view folder, const std::vector<std::string>& inputs,
      std::string_view output, const Directory& directory);

  // Merges about so many postings more, and makes them durable, so that no sync waits for much.
  [[nodiscard]] absl::Status step(std::uint64_t postings);
  // The output is complete.
  [[nodiscard]] bool is_finished() const { return is_finished_; }

 private:
  explicit RunMerger(const Directory& directory) : directory_(directory) {}

  // The readers whose postings come first and second of all; null where there is none.
  struct Leaders {
    RunReader* first = nullptr;
    RunReader* second = nullptr;
  };
  [[nodiscard]] Leaders find_leaders() const;
  [[nodiscard]] bool is_before(const RunPosting& left, const RunPosting& right) const;
  [[nodiscard]] absl::Status finish();

  const Directory& directory_;
  std::vector<std::unique_ptr<RunReader>> readers_;
  std::unique_ptr<PostingRunWriter> writer_;
  bool is_finished_ = false;
};

}  // namespace gyre::storage

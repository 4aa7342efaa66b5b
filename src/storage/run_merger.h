// Merging runs: many small files become one, so that a lookup sees few of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
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
// Tables become one run `merged_tables` (eight) at a time; larger runs of about the same size are
// merged four at a time or more. So a posting is rewritten once each time its run grows fourfold,
// and a store of n tables has at most 7 + 3 * log4(n / 8) runs. `table_postings` is what a full
// table holds.
[[nodiscard]] std::vector<std::size_t> choose_runs_to_merge(
    std::span<const std::uint64_t> posting_counts, std::uint64_t table_postings,
    std::size_t merged_tables);

// Writes the postings of several runs as one, and those of several runs of dead postings as another
// one; a posting that is in both goes into neither. For the worker: touches the files, and rows of
// the directory that are in its file, by Directory::checkpointed_row().
class RunMerger {
 public:
  struct Runs {
    std::vector<std::string> live;
    std::vector<std::string> dead;
  };
  struct Outputs {
    std::string live;
    std::string dead;
  };

  // Refuses with kResourceExhausted if the disk has no room for the output and something to spare:
  // a merge must not take the space that the log lives on.
  [[nodiscard]] static absl::StatusOr<std::unique_ptr<RunMerger>> create(
      FileSystem& files, std::string_view folder, const Runs& inputs, const Outputs& outputs,
      const Directory& directory);

  // Merges about so many postings more, and makes them durable, so that no sync waits for much.
  [[nodiscard]] absl::Status step(std::uint64_t postings);
  // The output is complete.
  [[nodiscard]] bool is_finished() const { return is_finished_; }
  // An output without postings is not made.
  [[nodiscard]] bool has_live_output() const { return live_.writer != nullptr; }
  [[nodiscard]] bool has_dead_output() const { return dead_.writer != nullptr; }
  // So far, to both outputs.
  [[nodiscard]] std::uint64_t written_postings() const { return written_postings_; }

 private:
  struct Output {
    std::string name;
    RunTermCounts terms_max;
    std::unique_ptr<PostingRunWriter> writer;  // Made with the first posting.
  };
  struct Input {
    std::unique_ptr<RunReader> reader;
    Output* output;
  };
  // The lowest term that an input stands at, one such input, and the lowest term of the others.
  struct Lowest {
    Term term = std::numeric_limits<Term>::max();
    std::size_t input = 0;
    Term second = std::numeric_limits<Term>::max();
  };
  // Of the inputs that stand at one term, those whose postings come first and second; null where
  // there is none.
  struct Leaders {
    Input* first = nullptr;
    Input* second = nullptr;
  };

  RunMerger(FileSystem& files, std::string_view folder, const Outputs& outputs,
            const Directory& directory)
      : files_(files), folder_(folder), directory_(directory) {
    live_.name = outputs.live;
    dead_.name = outputs.dead;
  }

  [[nodiscard]] absl::Status add_inputs(const std::vector<std::string>& names, Output& output);
  [[nodiscard]] absl::Status begin(Output& output);
  [[nodiscard]] Lowest find_lowest() const;
  [[nodiscard]] absl::Status copy_below(Term end, std::size_t number, std::uint64_t& budget);
  [[nodiscard]] absl::Status merge_term(Term term, std::uint64_t& budget);
  void copy_before(const Input* other, Input& input, Term term, std::uint64_t& budget);
  [[nodiscard]] Leaders find_leaders() const;
  void leave_if_past(Input& input, Term term);
  void note_place(const Input& input);
  [[nodiscard]] absl::Status remove_ended();
  [[nodiscard]] bool is_before(const RunPosting& left, const RunPosting& right) const;
  [[nodiscard]] absl::Status finish();

  FileSystem& files_;
  const std::string folder_;
  const Directory& directory_;
  std::vector<Input> inputs_;  // Those that are not at their end.
  // The terms that they stand at, side by side: finding the lowest is much of the work where terms
  // are rare, and most are.
  std::vector<Term> terms_;
  bool has_ended_ = false;     // One of them is at its end.
  std::vector<Input*> group_;  // Those that stand at the term being merged.
  std::uint64_t input_bytes_ = 0;
  Output live_;
  Output dead_;
  std::uint64_t written_postings_ = 0;
  bool is_finished_ = false;
};

}  // namespace gyre::storage

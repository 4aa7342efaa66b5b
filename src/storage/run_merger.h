// Merging runs: many small files become one, so that a lookup sees few of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "gyre/storage/directory.h"
#include "gyre/storage/file.h"

namespace gyre::storage {

// Which of the runs, given by their posting counts, should become one; empty if none should.
//
// Runs of about the same size are merged four at a time or more, so that a posting is rewritten
// once each time its run grows fourfold, and a store of n tables has about 3 * log4(n) runs.
// `table_postings` is what a full table holds.
[[nodiscard]] std::vector<std::size_t> choose_runs_to_merge(
    std::span<const std::uint64_t> posting_counts, std::uint64_t table_postings);

// Writes the postings of the runs `inputs` as the run `output`. For the worker: touches the files,
// and rows of the directory that are in its file.
[[nodiscard]] absl::Status merge_runs(FileSystem& files, std::string_view folder,
                                      const std::vector<std::string>& inputs,
                                      std::string_view output, const Directory& directory);

}  // namespace gyre::storage

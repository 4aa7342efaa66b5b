// A whole merge at once, in slices so small that its state is carried over many times.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gyre/storage/posting_index.h"
#include "storage/run_merger.h"

namespace gyre::storage {

[[nodiscard]] inline absl::Status merge_runs(FileSystem& files, std::string_view folder,
                                             const std::vector<std::string>& inputs,
                                             std::string_view output, const Directory& directory,
                                             PostingIndex& index) {
  auto merger =
      RunMerger::create(files, folder, {inputs, {}}, {std::string(output), "no"}, directory);
  if (!merger.ok()) return merger.status();
  while (!(*merger)->is_finished()) {
    if (absl::Status status = (*merger)->step(97); !status.ok()) return status;
  }
  return index.take_merged_run(output);
}

}  // namespace gyre::storage

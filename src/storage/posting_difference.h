// find_posting_differences: which postings make the sums of a PostingTally differ.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "gyre/storage/file.h"
#include "gyre/storage/manifest.h"
#include "gyre/storage/term.h"
#include "storage/directory_file.h"
#include "storage/early_changes.h"
#include "storage/finding_list.h"
#include "storage/posting_tally.h"

namespace gyre::storage {

struct PostingSides {
  FileSystem& files;
  const std::string& folder;
  const TermHasher& hasher;
  const Manifest& manifest;
  const DirectoryFile& rows;
  const EarlyChanges& early;
};

// Puts into `tally`, which went by the flags of the rows, what those of early changes still stood
// under when the manifest was written.
[[nodiscard]] absl::Status restore_postings(const PostingSides& sides, PostingTally& tally);

// Reads the log and the runs, which are whole, once more, and reports each posting of `buckets`
// (those of `tally`) that only one side has. Of many buckets only as many are looked at as fit into
// memory (some millions of postings); `posting_count` is that of all.
[[nodiscard]] absl::Status find_posting_differences(const PostingSides& sides,
                                                    const PostingTally& tally,
                                                    std::vector<std::uint32_t> buckets,
                                                    std::uint64_t posting_count,
                                                    FindingList& findings);

}  // namespace gyre::storage

// RunCheck: the part of check_shard() that reads the runs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/storage/file.h"
#include "storage/directory_file.h"
#include "storage/finding_list.h"
#include "storage/posting_run.h"
#include "storage/posting_tally.h"

namespace gyre::storage {

class RunCheck {
 public:
  // `rows` is null if there is no directory to look at; postings of one time are then not compared.
  RunCheck(FileSystem& files, std::string_view folder, const DirectoryFile* rows,
           Sequence row_count, FindingList& findings, ShardCheck& check,
           const std::function<absl::Status(std::uint64_t)>& advance)
      : files_(files),
        folder_(folder),
        rows_(rows),
        row_count_(row_count),
        findings_(findings),
        check_(check),
        advance_(advance) {}

  // Checks one run, and calls `visit` with each of its postings. False if it could not be read to
  // its end; a status (is_older_derived_version()) if it is of an older gyre.
  using Visit = std::function<void(const RunPosting&)>;
  [[nodiscard]] absl::StatusOr<bool> check(std::string_view name, const Visit& visit);

 private:
  [[nodiscard]] absl::StatusOr<bool> check_blocks(const PostingRun& run, const Visit& visit);
  void check_posting(const PostingRun& run, const RunPosting& posting, std::uint64_t offset);
  [[nodiscard]] bool is_in_order(const RunPosting& left, const RunPosting& right) const;
  void report(const PostingRun& run, std::uint64_t offset, std::string what);

  FileSystem& files_;
  const std::string folder_;
  const DirectoryFile* const rows_;
  const Sequence row_count_;
  FindingList& findings_;
  ShardCheck& check_;
  const std::function<absl::Status(std::uint64_t)>& advance_;
  RunTermCounts terms_;
  bool has_last_ = false;
  RunPosting last_{};
};

}  // namespace gyre::storage

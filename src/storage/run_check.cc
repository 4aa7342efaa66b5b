#include "storage/run_check.h"

#include <utility>

#include "gyre/base/ids.h"
#include "storage/concat.h"
#include "storage/corruption.h"

namespace gyre::storage {

absl::StatusOr<bool> RunCheck::check(std::string_view name, const Visit& visit) {
  const std::string path = concat(folder_, "/", name);
  auto run = PostingRun::open(files_, folder_, name);
  if (is_older_derived_version(run.status())) return run.status();
  if (absl::IsDataLoss(run.status()) || absl::IsNotFound(run.status())) {
    const bool is_missing = absl::IsNotFound(run.status());
    findings_.add({Finding::Part::kRun, path, std::nullopt, std::nullopt,
                   is_missing ? "the manifest names it, and it is missing"
                              : "its footer or block index is damaged"});
    return false;
  }
  if (!run.ok()) return run.status();
  terms_ = {};
  has_last_ = false;
  check_.bytes += (*run)->bytes();
  if (!(*run)->is_fence_sound()) {
    findings_.add(
        {Finding::Part::kRun, path, std::nullopt, std::nullopt, "its fence fails the checksum"});
    return false;
  }
  auto is_whole = check_blocks(**run, visit);
  if (!is_whole.ok() || !*is_whole) return is_whole;
  const RunTermCounts counts = (*run)->term_counts();
  if (terms_.all != counts.all || terms_.tombstones != counts.tombstones) {
    report(**run, (*run)->bytes(),
           concat("its footer says ", counts.all, " terms with ", counts.tombstones,
                  " tombstones, and there are ", terms_.all, " with ", terms_.tombstones));
  }
  return true;
}

absl::StatusOr<bool> RunCheck::check_blocks(const PostingRun& run, const Visit& visit) {
  bool is_whole = true;
  std::uint64_t unreported_bytes = 0;
  std::vector<RunPosting> postings;
  for (std::uint32_t block = 0; block < run.block_count(); ++block) {
    const PostingRun::BlockExtent extent = run.extent(block);
    unreported_bytes += extent.bytes;
    if (unreported_bytes >= kMiB || block + 1 == run.block_count()) {
      const absl::Status status = advance_(std::exchange(unreported_bytes, 0));
      if (!status.ok()) return status;
    }
    if (!run.is_block_sound(block)) {
      report(run, extent.offset, "a block fails its checksum");
      is_whole = false;
      continue;
    }
    postings.clear();
    run.append_block(block, postings);
    if (!postings.empty() && postings.front().created_at != extent.first_created_at) {
      report(run, extent.offset, "a block begins with another time than the index says");
    }
    for (const RunPosting& posting : postings) {
      check_posting(run, posting, extent.offset);
      visit(posting);
    }
  }
  return is_whole;
}

void RunCheck::check_posting(const PostingRun& run, const RunPosting& posting,
                             std::uint64_t offset) {
  if (posting.sequence >= row_count_) {
    report(run, offset,
           concat("a posting leads to event ", posting.sequence,
                  ", which the manifest does not count"));
  } else if (has_last_ && !is_in_order(last_, posting)) {
    report(run, offset, concat("a posting of event ", posting.sequence, " is out of order"));
  }
  if (!has_last_ || posting.term != last_.term) {
    ++terms_.all;
    if (is_tombstone(posting.term)) ++terms_.tombstones;
    const TermFence& fence = is_tombstone(posting.term) ? run.tombstone_fence() : run.fence();
    if (!fence.may_have(FenceKey(posting.term))) {
      report(run, offset, "its fence denies a term that is here");
    }
  }
  has_last_ = posting.sequence < row_count_;
  last_ = posting;
}

bool RunCheck::is_in_order(const RunPosting& left, const RunPosting& right) const {
  if (left.term != right.term) return left.term < right.term;
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  DirectoryRow left_row;
  DirectoryRow right_row;
  // Damaged rows are findings of their own.
  if (rows_ == nullptr || !rows_->read(left.sequence, left_row) ||
      !rows_->read(right.sequence, right_row)) {
    return true;
  }
  if (left_row.id_prefix != right_row.id_prefix) return left_row.id_prefix < right_row.id_prefix;
  return left.sequence < right.sequence;
}

void RunCheck::report(const PostingRun& run, std::uint64_t offset, std::string what) {
  findings_.add({Finding::Part::kRun, concat(folder_, "/", run.name()), offset, std::nullopt,
                 std::move(what)});
}

}  // namespace gyre::storage

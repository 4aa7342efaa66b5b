#include "storage/run_merger.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "storage/posting_run.h"
#include "storage/posting_run_writer.h"

namespace gyre::storage {
namespace {

constexpr std::size_t kRunsMergedMin = 4;
constexpr std::size_t kRunsMergedMax = 8;
// The worker does nothing else while it merges, and at about 100 ns for each posting this is six
// seconds: so long a full table may have to wait for its checkpoint.
constexpr std::uint64_t kMergedPostingsMax = 64'000'000;

constexpr int kSizeClasses = 32;

// 0 for up to two tables, 1 for up to eight, 2 for up to 32 ...
int size_class(std::uint64_t posting_count, std::uint64_t table_postings) {
  int size_class = 0;
  for (std::uint64_t bound = 2 * table_postings;
       posting_count > bound && size_class < kSizeClasses - 1; bound *= 4) {
    ++size_class;
  }
  return size_class;
}

// Reads a run from its first posting to its last, block by block.
class RunReader {
 public:
  explicit RunReader(std::unique_ptr<PostingRun> run) : run_(std::move(run)) { fill(); }
  [[nodiscard]] bool is_at_end() const { return at_ == postings_.size(); }
  [[nodiscard]] const RunPosting& posting() const { return postings_[at_]; }
  void advance() {
    if (++at_ == postings_.size()) fill();
  }

 private:
  void fill() {
    at_ = 0;
    postings_.clear();
    if (block_ < run_->block_count()) run_->append_block(block_++, postings_);
  }

  std::unique_ptr<PostingRun> run_;
  std::vector<RunPosting> postings_;  // Of one block.
  std::size_t at_ = 0;
  std::uint32_t block_ = 0;
};

bool is_before(const RunPosting& left, const RunPosting& right, const Directory& directory) {
  if (left.term != right.term) return left.term < right.term;
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  const std::uint64_t left_prefix = directory.checkpointed_row(left.sequence).id_prefix;
  const std::uint64_t right_prefix = directory.checkpointed_row(right.sequence).id_prefix;
  if (left_prefix != right_prefix) return left_prefix < right_prefix;
  return left.sequence < right.sequence;
}

// Of so few readers, looking at each is as good as a heap.
RunReader* first_of(std::vector<RunReader>& readers, const Directory& directory) {
  RunReader* first = nullptr;
  for (RunReader& reader : readers) {
    if (reader.is_at_end()) continue;
    if (first == nullptr || is_before(reader.posting(), first->posting(), directory)) {
      first = &reader;
    }
  }
  return first;
}

}  // namespace

std::vector<std::size_t> choose_runs_to_merge(std::span<const std::uint64_t> posting_counts,
                                              std::uint64_t table_postings) {
  std::array<std::vector<std::size_t>, kSizeClasses> classes;
  std::array<std::uint64_t, kSizeClasses> totals{};
  for (std::size_t i = 0; i < posting_counts.size(); ++i) {
    const auto size = static_cast<std::size_t>(
        size_class(posting_counts[i], std::max<std::uint64_t>(1, table_postings)));
    if (classes[size].size() == kRunsMergedMax) continue;
    if (totals[size] + posting_counts[i] > kMergedPostingsMax) continue;
    classes[size].push_back(i);
    totals[size] += posting_counts[i];
  }
  for (std::vector<std::size_t>& runs : classes) {
    if (runs.size() >= kRunsMergedMin) return std::move(runs);
  }
  return {};
}

absl::Status merge_runs(FileSystem& files, std::string_view folder,
                        const std::vector<std::string>& inputs, std::string_view output,
                        const Directory& directory) {
  std::vector<RunReader> readers;
  std::uint64_t term_count_max = 0;
  for (const std::string& name : inputs) {
    auto run = PostingRun::open(files, folder, name);
    if (!run.ok()) return run.status();
    term_count_max += (*run)->term_count();
    readers.emplace_back(*std::move(run));
  }
  auto writer = PostingRunWriter::create(files, folder, output, term_count_max);
  if (!writer.ok()) return writer.status();
  while (RunReader* const first = first_of(readers, directory)) {
    const RunPosting& posting = first->posting();
    (*writer)->add(posting.term, posting.created_at, posting.sequence);
    first->advance();
  }
  return (*writer)->finish();
}

}  // namespace gyre::storage

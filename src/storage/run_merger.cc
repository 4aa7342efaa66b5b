#include "storage/run_merger.h"

#include <algorithm>
#include <array>
#include <utility>

#include "gyre/base/ids.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::size_t kRunsMergedMin = 4;
constexpr std::size_t kRunsMergedMax = 8;
// A merge holds ten bits for each term in memory (the fence) and a byte in fifty (the block index):
// at most half a gigabyte. Beyond, runs are few in number anyway.
constexpr std::uint64_t kMergedPostingsMax = 256'000'000;
// Left to the log where a merge makes its output.
constexpr std::uint64_t kSpareBytes = 64 * kMiB;

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

absl::Status check_space(const FileSystem& files, std::string_view folder, std::uint64_t bytes) {
  const auto free_bytes = files.free_bytes(folder);
  if (!free_bytes.ok()) return free_bytes.status();
  if (*free_bytes >= bytes + kSpareBytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(concat(folder, ": a merge needs ",
                                             (bytes + kSpareBytes) / kMiB,
                                             " MiB, and the disk has ", *free_bytes / kMiB));
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

absl::StatusOr<std::unique_ptr<RunMerger>> RunMerger::create(FileSystem& files,
                                                             std::string_view folder,
                                                             const std::vector<std::string>& inputs,
                                                             std::string_view output,
                                                             const Directory& directory) {
  std::unique_ptr<RunMerger> merger(new RunMerger(directory));
  std::uint64_t term_count_max = 0;
  std::uint64_t bytes = 0;
  for (const std::string& name : inputs) {
    auto reader = RunReader::open(files, folder, name);
    if (!reader.ok()) return reader.status();
    term_count_max += (*reader)->term_count();
    bytes += (*reader)->bytes();
    merger->readers_.push_back(*std::move(reader));
  }
  if (absl::Status status = check_space(files, folder, bytes); !status.ok()) return status;
  auto writer = PostingRunWriter::create(files, folder, output, term_count_max);
  if (!writer.ok()) return writer.status();
  merger->writer_ = *std::move(writer);
  return merger;
}

absl::Status RunMerger::step(std::uint64_t postings) {
  while (postings > 0) {
    const auto [first, second] = find_leaders();
    if (first == nullptr) return finish();
    // Runs follow one another in time, so of a frequent term one run gives many in a row.
    do {
      const RunPosting& posting = first->posting();
      writer_->add(posting.term, posting.created_at, posting.sequence);
      first->advance();
      --postings;
    } while (postings > 0 && !first->is_at_end() &&
             (second == nullptr || is_before(first->posting(), second->posting())));
  }
  return writer_->sync();
}

absl::Status RunMerger::finish() {
  for (const auto& reader : readers_) {
    if (!reader->status().ok()) return reader->status();
  }
  is_finished_ = true;
  return writer_->finish();
}

// Of so few readers, looking at each is as good as a heap.
RunMerger::Leaders RunMerger::find_leaders() const {
  Leaders leaders;
  for (const auto& reader : readers_) {
    if (reader->is_at_end()) continue;
    if (leaders.first == nullptr || is_before(reader->posting(), leaders.first->posting())) {
      leaders.second = leaders.first;
      leaders.first = reader.get();
    } else if (leaders.second == nullptr ||
               is_before(reader->posting(), leaders.second->posting())) {
      leaders.second = reader.get();
    }
  }
  return leaders;
}

bool RunMerger::is_before(const RunPosting& left, const RunPosting& right) const {
  if (left.term != right.term) return left.term < right.term;
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  const std::uint64_t left_prefix = directory_.checkpointed_row(left.sequence).id_prefix;
  const std::uint64_t right_prefix = directory_.checkpointed_row(right.sequence).id_prefix;
  if (left_prefix != right_prefix) return left_prefix < right_prefix;
  return left.sequence < right.sequence;
}

}  // namespace gyre::storage

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

// 0 for up to four tables, which is what one may grow to while a checkpoint waits; 1 for up to 16,
// 2 for up to 64 ... Merges make runs of about 8, 32, 128 tables: the bounds stand between these,
// so that a few postings more or less do not set runs of about the same size apart.
int size_class(std::uint64_t posting_count, std::uint64_t table_postings) {
  int size_class = 0;
  for (std::uint64_t bound = 4 * table_postings;
       posting_count > bound && size_class < kSizeClasses - 1; bound *= 4) {
    ++size_class;
  }
  return size_class;
}

// Of one term.
bool is_same(const RunPosting& left, const RunPosting& right) {
  return left.created_at == right.created_at && left.sequence == right.sequence;
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
                                              std::uint64_t table_postings,
                                              std::size_t merged_tables) {
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
  if (classes[0].size() >= merged_tables) return std::move(classes[0]);
  for (std::size_t i = 1; i < classes.size(); ++i) {
    if (classes[i].size() >= kRunsMergedMin) return std::move(classes[i]);
  }
  return {};
}

absl::StatusOr<std::unique_ptr<RunMerger>> RunMerger::create(FileSystem& files,
                                                             std::string_view folder,
                                                             const Runs& inputs,
                                                             const Outputs& outputs,
                                                             const Directory& directory) {
  std::unique_ptr<RunMerger> merger(new RunMerger(files, folder, outputs, directory));
  absl::Status status = merger->add_inputs(inputs.live, merger->live_);
  if (status.ok()) status = merger->add_inputs(inputs.dead, merger->dead_);
  if (status.ok()) status = check_space(files, folder, merger->input_bytes_);
  if (!status.ok()) return status;
  return merger;
}

absl::Status RunMerger::add_inputs(const std::vector<std::string>& names, Output& output) {
  for (const std::string& name : names) {
    auto reader = RunReader::open(files_, folder_, name);
    if (!reader.ok()) return reader.status();
    output.terms_max.all += (*reader)->terms().all;
    output.terms_max.tombstones += (*reader)->terms().tombstones;
    input_bytes_ += (*reader)->bytes();
    if ((*reader)->is_at_end()) continue;
    terms_.push_back((*reader)->posting().term);
    inputs_.push_back({*std::move(reader), &output});
  }
  return absl::OkStatus();
}

absl::Status RunMerger::begin(Output& output) {
  if (output.writer != nullptr) return absl::OkStatus();
  auto writer = PostingRunWriter::create(files_, folder_, output.name, output.terms_max);
  if (!writer.ok()) return writer.status();
  output.writer = *std::move(writer);
  return absl::OkStatus();
}

absl::Status RunMerger::step(std::uint64_t postings) {
  while (postings > 0) {
    if (inputs_.empty()) return finish();
    const auto [lowest, first, second] = find_lowest();
    absl::Status status;
    if (lowest < second) {
      status = copy_below(second, first, postings);
    } else {
      status = merge_term(lowest, postings);
    }
    if (!status.ok()) return status;
    if (has_ended_) status = remove_ended();
    if (!status.ok()) return status;
  }
  for (const Output* output : {&live_, &dead_}) {
    if (output->writer == nullptr) continue;
    if (absl::Status status = output->writer->sync(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

// Without branches: which input has the lowest term is as good as random.
RunMerger::Lowest RunMerger::find_lowest() const {
  Lowest found;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    const Term term = terms_[i];
    const bool is_lower = term < found.term;
    found.second = std::min(found.second, is_lower ? found.term : term);
    found.input = is_lower ? i : found.input;
    found.term = is_lower ? term : found.term;
  }
  return found;
}

absl::Status RunMerger::copy_below(Term end, std::size_t number, std::uint64_t& budget) {
  Output& output = *inputs_[number].output;
  if (absl::Status status = begin(output); !status.ok()) return status;
  RunReader& reader = *inputs_[number].reader;
  do {
    const RunPosting& posting = reader.posting();
    output.writer->add(posting.term, posting.created_at, posting.sequence);
    ++written_postings_;
    reader.advance();
    --budget;
  } while (budget > 0 && !reader.is_at_end() && reader.posting().term < end);
  note_place(inputs_[number]);
  return absl::OkStatus();
}

// The postings of the term from all inputs that stand there.
absl::Status RunMerger::merge_term(Term term, std::uint64_t& budget) {
  group_.clear();
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i] == term) group_.push_back(&inputs_[i]);
  }
  while (budget > 0 && !group_.empty()) {
    --budget;
    const auto [first, second] = find_leaders();
    if (second != nullptr && is_same(first->reader->posting(), second->reader->posting())) {
      // A posting and its dead partner.
      for (Input* const input : {first, second}) {
        input->reader->advance();
        leave_if_past(*input, term);
      }
      continue;
    }
    if (absl::Status status = begin(*first->output); !status.ok()) return status;
    copy_before(second, *first, term, budget);
    leave_if_past(*first, term);
  }
  // With the budget at its end some stand within the term.
  return absl::OkStatus();
}

// Runs follow one another in time, so of a frequent term one run gives many in a row.
void RunMerger::copy_before(const Input* other, Input& input, Term term, std::uint64_t& budget) {
  RunReader& reader = *input.reader;
  while (true) {
    const RunPosting& posting = reader.posting();
    input.output->writer->add(term, posting.created_at, posting.sequence);
    ++written_postings_;
    reader.advance();
    if (budget == 0 || reader.is_at_end() || reader.posting().term != term) return;
    if (other != nullptr && !is_before(reader.posting(), other->reader->posting())) return;
    --budget;
  }
}

void RunMerger::leave_if_past(Input& input, Term term) {
  note_place(input);
  const RunReader& reader = *input.reader;
  if (reader.is_at_end() || reader.posting().term != term) std::erase(group_, &input);
}

void RunMerger::note_place(const Input& input) {
  if (input.reader->is_at_end()) {
    has_ended_ = true;
  } else {
    terms_[static_cast<std::size_t>(&input - inputs_.data())] = input.reader->posting().term;
  }
}

absl::Status RunMerger::remove_ended() {
  has_ended_ = false;
  for (std::size_t i = inputs_.size(); i-- > 0;) {
    const RunReader& reader = *inputs_[i].reader;
    if (!reader.status().ok()) return reader.status();
    if (!reader.is_at_end()) continue;
    inputs_.erase(inputs_.begin() + static_cast<std::ptrdiff_t>(i));
    terms_.erase(terms_.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return absl::OkStatus();
}

absl::Status RunMerger::finish() {
  for (const Output* output : {&live_, &dead_}) {
    if (output->writer == nullptr) continue;
    if (absl::Status status = output->writer->finish(); !status.ok()) return status;
  }
  is_finished_ = true;
  return absl::OkStatus();
}

// Of so few inputs, looking at each is as good as a heap.
RunMerger::Leaders RunMerger::find_leaders() const {
  Leaders leaders;
  for (Input* const input : group_) {
    const RunPosting& posting = input->reader->posting();
    if (leaders.first == nullptr || is_before(posting, leaders.first->reader->posting())) {
      leaders.second = leaders.first;
      leaders.first = input;
    } else if (leaders.second == nullptr || is_before(posting, leaders.second->reader->posting())) {
      leaders.second = input;
    }
  }
  return leaders;
}

// Of one term.
bool RunMerger::is_before(const RunPosting& left, const RunPosting& right) const {
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  if (left.sequence == right.sequence) return false;
  const std::uint64_t left_prefix = directory_.checkpointed_row(left.sequence).id_prefix;
  const std::uint64_t right_prefix = directory_.checkpointed_row(right.sequence).id_prefix;
  if (left_prefix != right_prefix) return left_prefix < right_prefix;
  return left.sequence < right.sequence;
}

}  // namespace gyre::storage

#include "storage/run_merger.h"

#include <algorithm>
#include <array>
#include <limits>
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
    output.term_count_max += (*reader)->term_count();
    input_bytes_ += (*reader)->bytes();
    terms_.push_back((*reader)->is_at_end() ? 0 : (*reader)->posting().term);
    is_at_end_.push_back((*reader)->is_at_end() ? 1 : 0);
    inputs_.push_back({*std::move(reader), &output, inputs_.size()});
  }
  return absl::OkStatus();
}

absl::Status RunMerger::begin(Output& output) {
  auto writer = PostingRunWriter::create(files_, folder_, output.name, output.term_count_max);
  if (!writer.ok()) return writer.status();
  output.writer = *std::move(writer);
  return absl::OkStatus();
}

absl::Status RunMerger::step(std::uint64_t postings) {
  while (postings > 0) {
    if (!find_group()) return finish();
    absl::Status status =
        group_.size() == 1 ? copy_term(*group_.front(), postings) : merge_term(postings);
    if (!status.ok()) return status;
  }
  for (const Output* output : {&live_, &dead_}) {
    if (output->writer == nullptr) continue;
    if (absl::Status status = output->writer->sync(); !status.ok()) return status;
  }
  return absl::OkStatus();
}

bool RunMerger::find_group() {
  group_.clear();
  bool is_any = false;
  Term lowest = std::numeric_limits<Term>::max();
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (is_at_end_[i] != 0) continue;
    is_any = true;
    lowest = std::min(lowest, terms_[i]);
  }
  if (!is_any) return false;
  for (std::size_t i = 0; i < terms_.size(); ++i) {
    if (terms_[i] == lowest && is_at_end_[i] == 0) group_.push_back(&inputs_[i]);
  }
  return true;
}

absl::Status RunMerger::copy_term(Input& input, std::uint64_t& budget) {
  Output& output = *input.output;
  if (output.writer == nullptr) {
    if (absl::Status status = begin(output); !status.ok()) return status;
  }
  RunReader& reader = *input.reader;
  const Term term = reader.posting().term;
  do {
    output.writer->add(term, reader.posting().created_at, reader.posting().sequence);
    ++written_postings_;
    reader.advance();
    --budget;
  } while (budget > 0 && !reader.is_at_end() && reader.posting().term == term);
  note_place(input);
  return absl::OkStatus();
}

// The postings of one term from several inputs, until one of them leaves the term.
absl::Status RunMerger::merge_term(std::uint64_t& budget) {
  const Term term = group_.front()->reader->posting().term;
  const std::size_t group_size = group_.size();
  while (budget > 0 && group_.size() == group_size) {
    const auto [first, second] = find_leaders();
    RunReader& reader = *first->reader;
    RunReader& other = *second->reader;
    --budget;
    if (reader.posting().created_at == other.posting().created_at &&
        reader.posting().sequence == other.posting().sequence) {
      // A posting and its dead partner.
      reader.advance();
      other.advance();
      leave_if_past(*first, term);
      leave_if_past(*second, term);
      continue;
    }
    Output& output = *first->output;
    if (output.writer == nullptr) {
      if (absl::Status status = begin(output); !status.ok()) return status;
    }
    // Runs follow one another in time, so one run gives many in a row.
    while (true) {
      output.writer->add(term, reader.posting().created_at, reader.posting().sequence);
      ++written_postings_;
      reader.advance();
      if (budget == 0 || reader.is_at_end() || reader.posting().term != term) break;
      if (!is_before(reader.posting(), other.posting())) break;
      --budget;
    }
    leave_if_past(*first, term);
  }
  return absl::OkStatus();
}

void RunMerger::leave_if_past(Input& input, Term term) {
  note_place(input);
  if (input.reader->is_at_end() || input.reader->posting().term != term) std::erase(group_, &input);
}

void RunMerger::note_place(const Input& input) {
  const bool is_at_end = input.reader->is_at_end();
  is_at_end_[input.number] = is_at_end ? 1 : 0;
  if (!is_at_end) terms_[input.number] = input.reader->posting().term;
}

absl::Status RunMerger::finish() {
  for (const Input& input : inputs_) {
    if (!input.reader->status().ok()) return input.reader->status();
  }
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

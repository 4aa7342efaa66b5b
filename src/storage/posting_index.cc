#include "gyre/storage/posting_index.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gyre/base/assert.h"
#include "storage/posting_cursor_impl.h"
#include "storage/posting_merge.h"
#include "storage/posting_order.h"
#include "storage/posting_run.h"
#include "storage/posting_run_writer.h"
#include "storage/posting_source.h"
#include "storage/posting_table.h"
#include "storage/run_merger.h"

namespace gyre::storage {

struct PostingIndex::Impl {
  Impl(FileSystem& file_system, std::string_view path, const Directory& rows, const Options& chosen)
      : files(file_system), folder(path), directory(rows), options(chosen) {}

  // Calls `visit(source)` for each table and run that has something of the range.
  template <typename Visit>
  void for_each_source(const PostingRange& range, const PostingPlace& start,
                       const Visit& visit) const;

  // Calls `visit(run)` for each run whose fence lets the term through.
  template <typename Visit>
  void for_each_run(Term term, const Visit& visit) const;
  [[nodiscard]] const std::vector<TermFence>& fences_for(Term term) const {
    return is_tombstone(term) ? tombstone_fences : fences;
  }
  void list_fences();

  // Worker's thread: maps a finished file.
  [[nodiscard]] absl::Status take_written(std::string_view name);

  FileSystem& files;
  const std::string folder;
  const Directory& directory;
  const Options options;
  std::unique_ptr<PostingTable> active = std::make_unique<PostingTable>();
  std::unique_ptr<PostingTable> frozen;
  std::unique_ptr<PostingTable> discarded;  // Freed bit by bit.
  std::vector<std::unique_ptr<PostingRun>> runs;
  // Those of the runs, in the same order and side by side: an event that comes in asks all of them.
  std::vector<TermFence> fences;
  std::vector<TermFence> tombstone_fences;
  std::unique_ptr<PostingRun> written;  // By the worker, not yet installed.
  // Merged into others; unmapped by the worker in release_merged(), for that takes a while.
  std::vector<std::unique_ptr<PostingRun>> merged;
  std::uint64_t version = 0;
};

PostingIndex::PostingIndex() = default;
PostingIndex::~PostingIndex() = default;

absl::StatusOr<std::unique_ptr<PostingIndex>> PostingIndex::open(
    FileSystem& files, std::string_view folder, const std::vector<std::string>& run_names,
    const Directory& directory, const Options& options) {
  std::unique_ptr<PostingIndex> index(new PostingIndex);
  index->impl_ = std::make_unique<Impl>(files, folder, directory, options);
  for (const std::string& name : run_names) {
    auto run = PostingRun::open(files, folder, name);
    if (!run.ok()) return run.status();
    index->impl_->runs.push_back(*std::move(run));
  }
  index->impl_->list_fences();
  return index;
}

void PostingIndex::add(const Posting& posting) { add({&posting, 1}); }

void PostingIndex::add(std::span<const Posting> postings) {
  Impl& impl = *impl_;
  impl.active->add(postings);
  for (std::size_t i = 0; i < postings.size() && impl.discarded != nullptr; ++i) {
    if (!impl.discarded->free_some()) impl.discarded.reset();
  }
}

void PostingIndex::prefetch_find(Term term) const {
  impl_->active->prefetch(term);
  if (impl_->frozen != nullptr) impl_->frozen->prefetch(term);
  const FenceKey key(term);
  for (const TermFence& fence : impl_->fences_for(term)) fence.prefetch(key);
}

bool PostingIndex::wants_freeze() const {
  return impl_->active->posting_count() >= impl_->options.table_postings_max;
}

template <typename Visit>
void PostingIndex::Impl::for_each_run(Term term, const Visit& visit) const {
  const FenceKey key(term);
  const std::vector<TermFence>& asked = fences_for(term);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].may_have(key)) visit(*runs[i]);
  }
}

void PostingIndex::Impl::list_fences() {
  fences.clear();
  tombstone_fences.clear();
  for (const auto& run : runs) {
    fences.push_back(run->fence());
    tombstone_fences.push_back(run->tombstone_fence());
  }
}

template <typename Visit>
void PostingIndex::Impl::for_each_source(const PostingRange& range, const PostingPlace& start,
                                         const Visit& visit) const {
  if (range.since > range.until) return;
  if (const auto source = PostingSource::open(*active, range, start)) visit(*source);
  if (frozen != nullptr) {
    if (const auto source = PostingSource::open(*frozen, range, start)) visit(*source);
  }
  for_each_run(range.term, [&](const PostingRun& run) {
    if (const auto source = PostingSource::open(run, directory, range, start)) visit(*source);
  });
}

PostingCursor PostingIndex::find(const PostingRange& range) const {
  PostingCursor cursor;
  cursor.impl_ = std::make_unique<PostingCursor::Impl>(impl_->directory);
  add_sources(range, nullptr, cursor.impl_->merge);
  return cursor;
}

PostingCursor PostingIndex::find_behind(const PostingRange& range,
                                        const PostingPlace& place) const {
  PostingCursor cursor;
  cursor.impl_ = std::make_unique<PostingCursor::Impl>(impl_->directory);
  add_sources(range, &place, cursor.impl_->merge);
  return cursor;
}

std::optional<PostingPlace> PostingIndex::find_newest(const PostingRange& range) const {
  const Directory& directory = impl_->directory;
  std::optional<PostingSource> newest;
  impl_->for_each_source(range, start_of(range), [&](const PostingSource& source) {
    if (!newest || is_before(source, *newest, directory)) newest = source;
  });
  if (!newest) return std::nullopt;
  return PostingPlace{newest->created_at(), newest->id_prefix(directory), newest->sequence()};
}

void PostingIndex::add_sources(const PostingRange& range, const PostingPlace* place,
                               PostingMerge& merge) const {
  const PostingPlace start = place == nullptr ? start_of(range) : start_behind(range, *place);
  impl_->for_each_source(range, start,
                         [&merge](const PostingSource& source) { merge.add(source); });
}

std::uint64_t PostingIndex::count(const PostingRange& range) const {
  std::uint64_t count = impl_->active->count(range);
  if (impl_->frozen != nullptr) count += impl_->frozen->count(range);
  impl_->for_each_run(range.term, [&](const PostingRun& run) { count += run.count(range); });
  return count;
}

std::uint64_t PostingIndex::estimate(const PostingRange& range) const {
  std::uint64_t count = impl_->active->count(range);
  if (impl_->frozen != nullptr) count += impl_->frozen->count(range);
  impl_->for_each_run(range.term, [&](const PostingRun& run) { count += run.estimate(range); });
  return count;
}

const PostingIndex::Options& PostingIndex::options() const { return impl_->options; }

std::uint64_t PostingIndex::version() const { return impl_->version; }

void PostingIndex::freeze() {
  GYRE_ASSERT(!has_frozen());
  impl_->frozen = std::exchange(impl_->active, std::make_unique<PostingTable>());
  ++impl_->version;
}

bool PostingIndex::has_frozen() const { return impl_->frozen != nullptr; }

// In the worker's thread. Of the index it touches the frozen table, which nobody changes, and
// `written`, which the shard leaves alone until the worker's result has reached it.
absl::Status PostingIndex::write_run(std::string_view name) {
  GYRE_ASSERT(has_frozen());
  const PostingTable& table = *impl_->frozen;
  auto writer = PostingRunWriter::create(impl_->files, impl_->folder, name, table.terms());
  if (!writer.ok()) return writer.status();
  table.for_each_sorted([&writer](Term term, const PostingEntry& entry) {
    (*writer)->add(term, entry.created_at, entry.sequence);
  });
  if (absl::Status status = (*writer)->finish(); !status.ok()) return status;
  return impl_->take_written(name);
}

absl::Status PostingIndex::Impl::take_written(std::string_view name) {
  auto run = PostingRun::open(files, folder, name);
  if (!run.ok()) return run.status();
  std::uint64_t budget = (*run)->bytes();
  Residence residence;
  (*run)->keep_resident(budget, residence);
  written = *std::move(run);
  return absl::OkStatus();
}

void PostingIndex::install_run(std::string_view name) {
  Impl& impl = *impl_;
  GYRE_ASSERT(has_frozen());
  GYRE_ASSERT(impl.written != nullptr && impl.written->name() == name);
  GYRE_ASSERT_CMP(impl.written->posting_count(), ==, impl.frozen->posting_count());
  impl.runs.push_back(std::move(impl.written));
  impl.list_fences();
  impl.discarded = std::move(impl.frozen);
  ++impl.version;
}

std::uint64_t PostingIndex::frozen_posting_count() const {
  return has_frozen() ? impl_->frozen->posting_count() : 0;
}

void PostingIndex::drop_empty_frozen() {
  GYRE_ASSERT(has_frozen());
  GYRE_ASSERT_CMP(impl_->frozen->posting_count(), ==, 0u);
  impl_->frozen.reset();
  ++impl_->version;
}

std::uint64_t PostingIndex::posting_count_of(const std::vector<std::string>& runs) const {
  std::uint64_t count = 0;
  for (const auto& run : impl_->runs) {
    if (std::find(runs.begin(), runs.end(), run->name()) != runs.end()) {
      count += run->posting_count();
    }
  }
  return count;
}

std::vector<std::string> PostingIndex::choose_merge() const {
  std::vector<std::uint64_t> posting_counts;
  for (const auto& run : impl_->runs) posting_counts.push_back(run->posting_count());
  std::vector<std::string> names;
  for (const std::size_t chosen : choose_runs_to_merge(
           posting_counts, impl_->options.table_postings_max, impl_->options.merged_tables)) {
    names.push_back(impl_->runs[chosen]->name());
  }
  return names;
}

absl::Status PostingIndex::take_merged_run(std::string_view name) {
  return impl_->take_written(name);
}

void PostingIndex::release_merged() { impl_->merged.clear(); }

void PostingIndex::install_merged_run(const std::vector<std::string>& inputs,
                                      std::string_view name) {
  Impl& impl = *impl_;
  const auto is_kept = [&inputs](const std::unique_ptr<PostingRun>& run) {
    return std::find(inputs.begin(), inputs.end(), run->name()) == inputs.end();
  };
  const auto gone = std::stable_partition(impl.runs.begin(), impl.runs.end(), is_kept);
  GYRE_ASSERT_CMP(static_cast<std::size_t>(impl.runs.end() - gone), ==, inputs.size());
  std::move(gone, impl.runs.end(), std::back_inserter(impl.merged));
  impl.runs.erase(gone, impl.runs.end());
  if (!name.empty()) {
    GYRE_ASSERT(impl.written != nullptr && impl.written->name() == name);
    impl.runs.push_back(std::move(impl.written));
  }
  impl.list_fences();
  ++impl.version;
}

// The worker changes nothing that the shard looks at, and runs come and go between its jobs.
bool PostingIndex::keep_resident(std::uint64_t budget, Residence& residence) {
  for (const auto& run : impl_->runs) {
    if (!run->keep_resident(budget, residence)) return false;
  }
  return true;
}

std::vector<std::string> PostingIndex::run_names() const {
  std::vector<std::string> names;
  names.reserve(impl_->runs.size());
  for (const auto& run : impl_->runs) names.push_back(run->name());
  return names;
}

std::size_t PostingIndex::run_count() const { return impl_->runs.size(); }

std::uint64_t PostingIndex::table_posting_count() const {
  return impl_->active->posting_count() +
         (impl_->frozen == nullptr ? 0 : impl_->frozen->posting_count());
}

std::uint64_t PostingIndex::run_posting_count() const {
  std::uint64_t count = 0;
  for (const auto& run : impl_->runs) count += run->posting_count();
  return count;
}

std::uint64_t PostingIndex::bytes_on_disk() const {
  std::uint64_t bytes = 0;
  for (const auto& run : impl_->runs) bytes += run->bytes();
  return bytes;
}

}  // namespace gyre::storage

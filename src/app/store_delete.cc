#include "app/store_delete.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "app/event_finder.h"
#include "app/filter_argument.h"
#include "app/parallel_shards.h"
#include "app/progress.h"

namespace gyre::app {
namespace {

using storage::Sequence;
using storage::Verdict;

constexpr std::size_t kSampleMax = 5;
constexpr std::size_t kEventsPerRecord = 4096;

}  // namespace

absl::StatusOr<std::unique_ptr<StoreDeletion>> StoreDeletion::open(const DeleteOptions& options) {
  const auto filters = parse_filter_arguments(options.filters);
  if (!filters.ok()) return filters.status();
  if (filters->empty()) return absl::InvalidArgumentError("--filter says what to delete");
  for (std::size_t i = 0; i < filters->size(); ++i) {
    if (!(*filters)[i].limit) continue;
    return absl::InvalidArgumentError("--filter " + options.filters[i] +
                                      " has a limit; what matches is deleted, or nothing: say by "
                                      "`since`, `until` or `ids` which events are meant");
  }
  for (std::size_t i = 0; i < filters->size(); ++i) {
    if (options.may_be_everything || !matches_everything((*filters)[i])) continue;
    return absl::InvalidArgumentError("--filter " + options.filters[i] +
                                      " matches every event; --all says that this is meant");
  }
  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!store.ok()) return store.status();
  std::unique_ptr<StoreDeletion> deletion(new StoreDeletion());
  deletion->store_ = *std::move(store);
  if (absl::Status status = deletion->find(*filters); !status.ok()) return status;
  if (!options.may_be_everything && deletion->is_everything(*filters)) {
    return absl::InvalidArgumentError(
        "this matches every event of the store; --all says that "
        "this is meant");
  }
  return deletion;
}

absl::Status StoreDeletion::find(const std::vector<nostr::Filter>& filters) {
  Progress progress("events found", 0);
  std::uint64_t count = 0;
  for (std::uint32_t i = 0; i < store_->shard_count(); ++i) {
    const storage::QuerySources sources = store_->shard(static_cast<ShardId>(i)).sources();
    EventFinder finder(sources, filters, StoredOrder::kOldestStoredFirst, DeadEvents::kLeftOut);
    std::vector<Sequence>& found = found_.emplace_back();
    for (EventFinder::Found event;;) {
      const EventFinder::Step step = finder.next(event);
      if (step == EventFinder::Step::kFinished) break;
      if (step == EventFinder::Step::kPaused) {
        if (absl::Status status = interruption(); !status.ok()) return status;
        progress.update(count, 0, "");
        continue;
      }
      found.push_back(event.sequence);
      ++count;
      if (sample_.size() < kSampleMax) sample_.emplace_back(event.event.json());
    }
  }
  return absl::OkStatus();
}

// A window of time that all events lie in. Who names authors, kinds, tags or ids has chosen.
bool StoreDeletion::is_everything(const std::vector<nostr::Filter>& filters) const {
  const bool has_only_times = std::ranges::all_of(filters, [](const nostr::Filter& filter) {
    return !filter.has_ids() && !filter.has_authors() && !filter.has_kinds() && filter.tags.empty();
  });
  std::uint64_t alive = 0;
  for (std::uint32_t i = 0; i < store_->shard_count(); ++i) {
    alive += store_->shard(static_cast<ShardId>(i)).events_alive();
  }
  return has_only_times && alive != 0 && count() == alive;
}

std::uint64_t StoreDeletion::count() const {
  std::uint64_t count = 0;
  for (const auto& sequences : found_) count += sequences.size();
  return count;
}

absl::Status StoreDeletion::carry_out() {
  Progress progress("events deleted", 0);
  for (std::uint32_t i = 0; i < store_->shard_count(); ++i) {
    storage::Store& store = store_->shard(static_cast<ShardId>(i));
    store.start_threads([] {});
    const std::vector<Sequence>& found = found_[i];
    for (std::size_t begin = 0; begin < found.size(); begin += kEventsPerRecord) {
      if (absl::Status status = interruption(); !status.ok()) return status;
      const std::size_t count = std::min(kEventsPerRecord, found.size() - begin);
      absl::Status status = retire_some(store, std::span(found).subspan(begin, count));
      if (!status.ok()) return status;
      done_ += count;
      progress.update(done_, 0, "");
    }
  }
  return absl::OkStatus();
}

absl::Status StoreDeletion::retire_some(storage::Store& store,
                                        std::span<const Sequence> sequences) {
  while (true) {
    const Verdict verdict = store.retire_by_operator(sequences);
    store.work();
    if (verdict == Verdict::kAccept) return absl::OkStatus();
    if (verdict != Verdict::kBusy) {
      return absl::ResourceExhaustedError("the disk is full; make room and run it again");
    }
    // The disk is slower than we are; a short nap costs nothing.
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace gyre::app

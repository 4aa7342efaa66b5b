#include "app/store_scan.h"

#include <memory>
#include <utility>

#include "app/filter_argument.h"
#include "app/offline_store.h"
#include "app/output_file.h"
#include "app/parallel_shards.h"
#include "app/progress.h"

namespace gyre::app {
namespace {

using nostr::Filter;
using nostr::PackedEventView;

absl::StatusOr<std::vector<Filter>> filters_of(const std::vector<std::string>& json) {
  auto filters = parse_filter_arguments(json);
  if (filters.ok() && filters->empty()) filters->emplace_back();
  return filters;
}

std::string text_of(ShardId shard, const EventFinder::Found& found) {
  const bool is_dead = (found.row.flags & storage::kRowDead) != 0;
  std::string text = "{\"shard\":" + std::to_string(shard);
  text += ",\"sequence\":" + std::to_string(found.sequence);
  text += ",\"segment\":" + std::to_string(found.row.position.segment());
  text += ",\"offset\":" + std::to_string(found.row.position.offset());
  text += is_dead ? ",\"dead\":true,\"event\":" : ",\"dead\":false,\"event\":";
  return text.append(found.event.json()) + "}";
}

class StoreScan {
 public:
  StoreScan(const ScanOptions& options, const std::vector<Filter>& filters, OutputFile& out)
      : options_(options), filters_(filters), out_(out), progress_("events", 0) {}

  absl::Status scan(ShardId shard, const storage::Store& store) {
    const storage::QuerySources sources = store.sources();
    EventFinder finder(sources, filters_, options_.order, options_.dead);
    for (EventFinder::Found found; count_ < options_.limit.value_or(UINT64_MAX);) {
      const EventFinder::Step step = finder.next(found);
      if (step == EventFinder::Step::kFinished) break;
      progress_.update(count_, 0, "");
      if (absl::Status status = interruption(); !status.ok()) return status;
      if (step == EventFinder::Step::kPaused) continue;
      ++count_;
      if (absl::Status status = write(shard, found); !status.ok()) return status;
    }
    damaged_ += finder.damaged();
    return absl::OkStatus();
  }
  [[nodiscard]] std::uint64_t count() const { return count_; }
  [[nodiscard]] std::uint64_t damaged() const { return damaged_; }

 private:
  absl::Status write(ShardId shard, const EventFinder::Found& found) {
    if (options_.counts_only) return absl::OkStatus();
    if (options_.shows_where) return out_.write_line(text_of(shard, found));
    return out_.write_line(found.event.json());
  }

  const ScanOptions& options_;
  const std::vector<Filter>& filters_;
  OutputFile& out_;
  Progress progress_;
  std::uint64_t count_ = 0;
  std::uint64_t damaged_ = 0;
};

absl::Status count_shard(const storage::Store& store, const std::vector<Filter>& filters,
                         std::int64_t now_s, SharedProgress& progress) {
  static const OfflineAccess access;
  if (filters.size() == 1 && !filters.front().limit) {
    if (const auto count = store.count(filters.front(), access, now_s)) {
      progress.count.fetch_add(*count, std::memory_order_relaxed);
      return absl::OkStatus();
    }
  }
  const storage::QuerySources sources = store.sources();
  storage::ScanLimits limits;
  for (const Filter& filter : filters) {
    limits.filter_limits.emplace_back(filter.limit.value_or(UINT64_MAX));
  }
  storage::Scan scan(sources, filters, limits, access, now_s);
  while (true) {
    std::uint64_t budget = 100'000;
    storage::Sequence sequence = 0;
    PackedEventView event;
    const storage::Scan::Step step = scan.next(budget, sequence, event);
    if (step == storage::Scan::Step::kFinished) return absl::OkStatus();
    if (step == storage::Scan::Step::kEvent) {
      progress.count.fetch_add(1, std::memory_order_relaxed);
    } else if (absl::Status status = interruption(); !status.ok()) {
      return status;
    }
  }
}

}  // namespace

absl::StatusOr<std::uint64_t> run_scan(const ScanOptions& options) {
  const auto filters = filters_of(options.filters);
  if (!filters.ok()) return filters.status();
  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!store.ok()) return store.status();
  auto out = OutputFile::open(options.file);
  if (!out.ok()) return out.status();
  StoreScan scan(options, *filters, *out);
  absl::Status status;
  for (std::uint32_t i = 0; i < (*store)->shard_count() && status.ok(); ++i) {
    const auto shard = static_cast<ShardId>(i);
    status = scan.scan(shard, (*store)->shard(shard));
  }
  status.Update(out->close());
  status.Update((*store)->close());
  if (status.ok() && scan.damaged() > 0) {
    status = absl::DataLossError(std::to_string(scan.damaged()) +
                                 " events are damaged and were left out; run `gyre check`");
  }
  if (!status.ok()) return status;
  return scan.count();
}

absl::StatusOr<std::uint64_t> run_count(const CountOptions& options) {
  const auto filters = filters_of(options.filters);
  if (!filters.ok()) return filters.status();
  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!store.ok()) return store.status();
  SharedProgress progress;
  const std::int64_t now_s = (*store)->clock().unix_s();
  absl::Status status =
      for_each_shard((*store)->shard_count(), "events", 0, progress, [&](ShardId shard) {
        return count_shard((*store)->shard(shard), *filters, now_s, progress);
      });
  status.Update((*store)->close());
  if (!status.ok()) return status;
  return progress.count.load();
}

}  // namespace gyre::app

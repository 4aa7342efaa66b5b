#include "app/compact.h"

#include <string>

#include "app/interrupt.h"
#include "app/offline_store.h"
#include "app/progress.h"
#include "gyre/base/ids.h"

namespace gyre::app {
namespace {

std::uint64_t bytes_of(const storage::Store& store) {
  const storage::StoreStatistics statistics = store.statistics();
  return statistics.log_bytes + statistics.index_bytes;
}

std::string given_back_note(std::uint64_t shard, std::uint64_t bytes) {
  return "; shard " + std::to_string(shard) + ", " + std::to_string(bytes / kMiB) +
         " MiB given back";
}

class Compaction {
 public:
  explicit Compaction(OfflineStore& offline) : offline_(offline), progress_("segments", 0) {}

  absl::StatusOr<CompactReport> run() {
    for (std::uint32_t i = 0; i < offline_.shard_count(); ++i) report_.bytes_before += bytes(i);
    for (std::uint32_t i = 0; i < offline_.shard_count() && !report_.was_interrupted; ++i) {
      if (absl::Status status = compact_shard(i); !status.ok()) return status;
    }
    progress_.finish();
    // Closing a store cuts what its log has reserved, so the sizes are compared after it.
    if (absl::Status status = offline_.close(); !status.ok()) return status;
    for (std::uint32_t i = 0; i < offline_.shard_count(); ++i) report_.bytes_after += bytes(i);
    return report_;
  }

 private:
  [[nodiscard]] storage::Store& shard(std::uint32_t number) {
    return offline_.shard(static_cast<ShardId>(number));
  }
  [[nodiscard]] std::uint64_t bytes(std::uint32_t number) { return bytes_of(shard(number)); }

  absl::Status compact_shard(std::uint32_t number) {
    storage::Store& store = shard(number);
    store.start_compacting_all();
    // Merges of runs come first in the store's own order; they end with the loop, too.
    for (bool has_work = true; has_work || store.is_compacting_all();) {
      report_.was_interrupted = is_interrupted();
      if (report_.was_interrupted) break;
      store.work();
      has_work = store.run_background_once();
      const storage::StoreStatistics statistics = store.statistics();
      progress_.update(report_.segments + statistics.compactions, 0,
                       given_back_note(number, statistics.compacted_bytes));
      // What waits for better times would wait for ever here.
      if (!has_work && statistics.failed_compactions + statistics.failed_checkpoints > 0) break;
      if (!has_work && store.is_disk_full()) {
        return absl::ResourceExhaustedError(
            "there is no space on the disk for even the next "
            "segment of the log; make some and run it again");
      }
    }
    const storage::StoreStatistics statistics = store.statistics();
    report_.segments += statistics.compactions;
    report_.untouched += statistics.failed_compactions;
    if (statistics.failed_checkpoints == 0) return absl::OkStatus();
    return absl::UnavailableError("shard " + std::to_string(number) +
                                  ": its checkpoint could not be written; see the lines above");
  }

  OfflineStore& offline_;
  Progress progress_;
  CompactReport report_;
};

}  // namespace

absl::StatusOr<CompactReport> run_compact(const CompactOptions& options) {
  auto store = OfflineStore::open(options.store_path, OfflineStore::Mode::kMustExist, 1, {});
  if (!store.ok()) return store.status();
  catch_interrupts();
  return Compaction(**store).run();
}

}  // namespace gyre::app

#include "app/store_check.h"

#include <algorithm>
#include <utility>

#include "app/parallel_shards.h"
#include "app/quantity_text.h"
#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/storage/file.h"

namespace gyre::app {
namespace {

using storage::DataDirectory;
using storage::ShardCheck;

absl::StatusOr<std::uint64_t> total_bytes(const DataDirectory& data, const CheckOptions& options) {
  std::uint64_t total = 0;
  for (std::uint32_t i = 0; i < data.shard_count(); ++i) {
    if (options.shard && *options.shard != i) continue;
    const auto bytes = storage::bytes_to_check(storage::posix_file_system(),
                                               data.shard_path(static_cast<ShardId>(i)));
    if (!bytes.ok()) return bytes.status();
    total += *bytes;
  }
  return total;
}

}  // namespace

std::uint64_t CheckReport::finding_count() const {
  std::uint64_t count = 0;
  for (const ShardCheck& shard : shards) count += shard.finding_count;
  return count;
}

absl::StatusOr<std::unique_ptr<DataDirectory>> open_existing_store(const std::string& path) {
  storage::FileSystem& files = storage::posix_file_system();
  if (!files.exists(path + "/gyre-store")) {
    return absl::NotFoundError("there is no store at " + path +
                               "; name the folder that `gyre relay` uses (store.path)");
  }
  SystemRandom random;
  return DataDirectory::open(files, path, 1, random);
}

absl::StatusOr<CheckReport> run_check(const CheckOptions& options) {
  const auto data = open_existing_store(options.store_path);
  if (!data.ok()) return data.status();
  return check_store(**data, options);
}

absl::StatusOr<CheckReport> check_store(const DataDirectory& data, const CheckOptions& options) {
  if (options.shard && *options.shard >= data.shard_count()) {
    return absl::InvalidArgumentError("--shard " + std::to_string(*options.shard) +
                                      ": the store has shards 0 to " +
                                      std::to_string(data.shard_count() - 1));
  }
  const auto bytes = total_bytes(data, options);
  if (!bytes.ok()) return bytes.status();
  const SystemClock clock;
  const std::uint64_t begin_ns = clock.monotonic_ns();
  CheckReport report;
  report.shards.resize(data.shard_count());
  SharedProgress progress;
  const auto check_one = [&](ShardId shard) -> absl::Status {
    if (options.shard && *options.shard != shard) return absl::OkStatus();
    storage::ShardCheckOptions shard_options;
    shard_options.verifies_signatures = options.verifies_signatures;
    shard_options.advance = [&progress](std::uint64_t read) {
      progress.bytes.fetch_add(read, std::memory_order_relaxed);
      progress.count.fetch_add(read >> 20, std::memory_order_relaxed);
      return interruption();
    };
    SystemRandom random;
    auto checked =
        storage::check_shard(storage::posix_file_system(),
                             {data.shard_path(shard), data.key(), shard}, shard_options, random);
    if (checked.ok()) report.shards[shard] = *std::move(checked);
    return checked.status();
  };
  const absl::Status status =
      for_each_shard(data.shard_count(), "MiB read", *bytes, progress, check_one);
  if (!status.ok()) return status;
  report.seconds = static_cast<double>(clock.monotonic_ns() - begin_ns) / 1e9;
  return report;
}

std::string check_text(const CheckReport& report) {
  std::string text;
  ShardCheck total;
  for (const ShardCheck& shard : report.shards) {
    for (const storage::Finding& finding : shard.findings) {
      text += describe(finding) + "\n    cure: " + std::string(cure_of(finding.part)) + "\n";
    }
    if (const std::uint64_t more = shard.finding_count - shard.findings.size(); more > 0) {
      text += "... and " + std::to_string(more) + " more of the same kind in this shard\n";
    }
    total.events += shard.events;
    total.events_alive += shard.events_alive;
    total.postings += shard.postings;
    total.bytes += shard.bytes;
    total.torn_bytes += shard.torn_bytes;
    total.is_index_outdated |= shard.is_index_outdated;
  }
  text += count_text(total.events) + " events, " + count_text(total.events_alive) + " alive, " +
          count_text(total.postings) + " postings, " + bytes_text(total.bytes) + " read in " +
          seconds_text(report.seconds) + ": ";
  const std::uint64_t found = report.finding_count();
  text += found == 0 ? "nothing is wrong\n" : count_text(found) + " findings\n";
  if (total.is_index_outdated) {
    text += "the index is of an older gyre; the next start makes it again from the log\n";
  }
  if (total.torn_bytes > 0) {
    text += "the log ends in " + count_text(total.torn_bytes) +
            " bytes of an unfinished write, which had not been acknowledged; the next start cuts "
            "them\n";
  }
  return text;
}

}  // namespace gyre::app

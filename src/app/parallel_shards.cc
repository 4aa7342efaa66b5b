#include "app/parallel_shards.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "app/interrupt.h"
#include "app/progress.h"
#include "gyre/runtime/topology.h"

namespace gyre::app {
namespace {

constexpr std::chrono::milliseconds kDrawInterval{100};

// Threads take the next shard until there is none.
class Workers {
 public:
  Workers(std::uint32_t shard_count, const std::function<absl::Status(ShardId)>& work)
      : work_(work), results_(shard_count) {
    const auto cores = static_cast<std::uint32_t>(runtime::usable_cores().size());
    const std::uint32_t count = std::max(1u, std::min(cores, shard_count));
    running_ = count;  // Falls while threads are still being started.
    for (std::uint32_t i = 0; i < count; ++i) threads_.emplace_back([this] { run(); });
  }

  // False while threads are at work; waits a moment for them.
  bool wait_a_moment() {
    std::unique_lock lock(mutex_);
    return finished_.wait_for(lock, kDrawInterval, [this] { return running_ == 0; });
  }
  absl::Status join() {
    for (std::thread& thread : threads_) thread.join();
    absl::Status status;
    for (const absl::Status& result : results_) status.Update(result);
    return status;
  }

 private:
  void run() {
    for (std::uint32_t shard; (shard = next_.fetch_add(1)) < results_.size();) {
      results_[shard] = work_(static_cast<ShardId>(shard));
    }
    const std::lock_guard lock(mutex_);
    --running_;
    finished_.notify_one();
  }

  const std::function<absl::Status(ShardId)>& work_;
  std::vector<absl::Status> results_;  // Each written by the thread that took the shard.
  std::atomic<std::uint32_t> next_{0};
  std::mutex mutex_;
  std::condition_variable finished_;
  std::uint32_t running_ = 0;
  std::vector<std::thread> threads_;
};

}  // namespace

absl::Status for_each_shard(std::uint32_t shard_count, const std::string& unit,
                            std::uint64_t bytes_total, SharedProgress& progress,
                            const std::function<absl::Status(ShardId)>& work) {
  Progress line(unit, bytes_total);
  Workers workers(shard_count, work);
  while (!workers.wait_a_moment()) {
    line.update(progress.count.load(std::memory_order_relaxed),
                progress.bytes.load(std::memory_order_relaxed), "");
  }
  const absl::Status status = workers.join();
  line.finish();
  return status;
}

absl::Status interruption() {
  return is_interrupted() ? absl::CancelledError("interrupted") : absl::OkStatus();
}

}  // namespace gyre::app

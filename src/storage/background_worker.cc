#include "storage/background_worker.h"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <utility>

#include "gyre/base/assert.h"

namespace gyre::storage {

BackgroundWorker::BackgroundWorker() = default;

BackgroundWorker::~BackgroundWorker() { stop_thread(); }

void BackgroundWorker::post(Job job) {
  GYRE_ASSERT(!is_busy_);
  is_busy_ = true;
  job_ = std::move(job);
  GYRE_ASSERT(jobs_.try_push(1));
  jobs_.publish();
  if (thread_.joinable()) wanted_.release();
}

bool BackgroundWorker::take_result(absl::Status& result) {
  char token = 0;
  if (!results_.try_pop(token)) return false;
  result = std::exchange(result_, absl::OkStatus());
  is_busy_ = false;
  return true;
}

bool BackgroundWorker::run_next() {
  char token = 0;
  if (!jobs_.try_pop(token)) return false;
  result_ = job_();
  job_ = nullptr;
  GYRE_ASSERT(results_.try_push(1));
  results_.publish();
  return true;
}

bool BackgroundWorker::run_once() {
  GYRE_ASSERT(!thread_.joinable());
  return run_next();
}

void BackgroundWorker::start_thread(std::function<void()> on_progress) {
  GYRE_ASSERT(!thread_.joinable());
  on_progress_ = std::move(on_progress);
  is_stopping_.store(false, std::memory_order_relaxed);
  thread_ = std::thread([this] {
    // Linux applies the nice value of a who of 0 to the calling thread alone. Failing is harmless.
    // At 5 it gets a quarter of a core that the shard wants whole: a flood of 25,000 events a
    // second needs a tenth for checkpoints and merges, and what lags makes events wait.
    (void)setpriority(PRIO_PROCESS, 0, 5);
    while (true) {
      while (run_next()) on_progress_();
      if (is_stopping_.load(std::memory_order_acquire)) return;
      wanted_.acquire();
    }
  });
  // Else it would bear the name of the shard's thread, whose child it is.
  pthread_setname_np(thread_.native_handle(), "gyre-worker");
  // A job posted before the thread existed is taken by its first run_next().
}

void BackgroundWorker::stop_thread() {
  if (!thread_.joinable()) return;
  is_stopping_.store(true, std::memory_order_release);
  wanted_.release();
  thread_.join();
}

}  // namespace gyre::storage

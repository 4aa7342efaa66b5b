// BackgroundWorker: one low-priority thread that does a shard's slow file work, one job at a time.
//
// The shard posts a job and goes on; it learns the result in a later turn. Job and result cross by
// SPSC rings; a semaphore lets the thread sleep. Without a thread (simulations) run_once() does the
// same.
#pragma once

#include <functional>
#include <semaphore>
#include <thread>

#include "absl/status/status.h"
#include "gyre/base/spsc_ring.h"

namespace gyre::storage {

class BackgroundWorker {
 public:
  // What a job does, in the worker's thread. It must touch nothing that the shard changes
  // meanwhile.
  using Job = std::function<absl::Status()>;

  BackgroundWorker();
  ~BackgroundWorker();
  BackgroundWorker(const BackgroundWorker&) = delete;
  BackgroundWorker& operator=(const BackgroundWorker&) = delete;

  // Requires: !is_busy().
  void post(Job job);
  // From post() until take_result() has given the result.
  [[nodiscard]] bool is_busy() const { return is_busy_; }
  // True once for each job, when it is done.
  [[nodiscard]] bool take_result(absl::Status& result);

  // `on_progress` is called from the thread after each job.
  void start_thread(std::function<void()> on_progress);
  void stop_thread();  // Waits for the job that runs. Fine without a thread.
  // Runs the posted job in the caller's thread. Requires: no thread.
  bool run_once();

 private:
  bool run_next();

  Job job_;              // The shard's before the ring publishes it, the worker's until the result.
  absl::Status result_;  // The other way round.
  bool is_busy_ = false;
  SpscRing<char> jobs_{2};
  SpscRing<char> results_{2};
  std::counting_semaphore<4> wanted_{0};
  std::function<void()> on_progress_;
  std::atomic<bool> is_stopping_{false};
  std::thread thread_;
};

}  // namespace gyre::storage

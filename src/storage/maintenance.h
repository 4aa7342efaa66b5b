// Maintenance: a shard's background tasks on one worker, one job at a time, the most urgent first.
//
// The order of the tasks is the order of their urgency: checkpoints, which bound memory and the
// length of a recovery; merges, which bound what a query costs. Since no two jobs run at once, a
// job may rely on it that no other one changes directory, runs or manifest meanwhile.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "storage/background_task.h"
#include "storage/background_worker.h"

namespace gyre::storage {

class Maintenance {
 public:
  // The tasks outlive it; the most urgent first.
  explicit Maintenance(std::vector<BackgroundTask*> tasks) : tasks_(std::move(tasks)) {}

  // Takes the result of the last job and begins the next one. Once a turn.
  void work();
  // While a job is under way, on_progress will be called.
  [[nodiscard]] bool is_busy() const { return worker_.is_busy(); }

  // As BackgroundWorker.
  void start_thread(std::function<void()> on_progress) {
    worker_.start_thread(std::move(on_progress));
  }
  bool run_once() { return worker_.run_once(); }
  // Waits for the job under way and takes its result; no other begins.
  void stop();

 private:
  void take_result();
  void begin_job();

  const std::vector<BackgroundTask*> tasks_;
  BackgroundTask* running_ = nullptr;
  BackgroundWorker worker_;
};

}  // namespace gyre::storage

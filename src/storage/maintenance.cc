#include "storage/maintenance.h"

#include <utility>

namespace gyre::storage {

void Maintenance::work() {
  take_result();
  if (running_ == nullptr) begin_job();
}

void Maintenance::stop() {
  worker_.stop_thread();
  take_result();
}

void Maintenance::take_result() {
  absl::Status result;
  if (!worker_.take_result(result)) return;
  std::exchange(running_, nullptr)->finish(result);
}

void Maintenance::begin_job() {
  for (BackgroundTask* const task : tasks_) {
    if (!task->prepare()) continue;
    running_ = task;
    worker_.post([task] { return task->run(); });
    return;
  }
}

}  // namespace gyre::storage

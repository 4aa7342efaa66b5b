// BackgroundTask: slow work that a shard has done for it, in jobs of bounded length.
//
// prepare() and finish() run in the shard's thread while no job runs, so they may change what a job
// reads; run() is the job, in the worker's thread. Whatever its length, a task gives the worker
// back after about a second at most, because others wait: it goes on when it is asked again.
#pragma once

#include "absl/status/status.h"

namespace gyre::storage {

class BackgroundTask {
 public:
  virtual ~BackgroundTask() = default;

  // Whether there is a job now. True: run() and finish() follow, and nothing between.
  [[nodiscard]] virtual bool prepare() = 0;
  [[nodiscard]] virtual absl::Status run() = 0;
  // Takes what run() said. A failure is the task's to report, and to try again later.
  virtual void finish(const absl::Status& result) = 0;
};

}  // namespace gyre::storage

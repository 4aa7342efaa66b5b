#include "storage/background_worker.h"

#include <atomic>

#include <gtest/gtest.h>

namespace gyre::storage {
namespace {

TEST(BackgroundWorker, ByHandAJobRunsWhenItIsToldTo) {
  BackgroundWorker worker;
  absl::Status result;
  EXPECT_FALSE(worker.run_once());
  EXPECT_FALSE(worker.take_result(result));
  int runs = 0;
  worker.post([&] {
    ++runs;
    return absl::InternalError("tried");
  });
  EXPECT_TRUE(worker.is_busy());
  EXPECT_FALSE(worker.take_result(result));
  EXPECT_EQ(runs, 0);
  EXPECT_TRUE(worker.run_once());
  EXPECT_EQ(runs, 1);
  EXPECT_TRUE(worker.is_busy());
  ASSERT_TRUE(worker.take_result(result));
  EXPECT_EQ(result, absl::InternalError("tried"));
  EXPECT_FALSE(worker.is_busy());
  EXPECT_FALSE(worker.take_result(result));
  EXPECT_FALSE(worker.run_once());
}

TEST(BackgroundWorker, ResultOfOneJobDoesNotStainTheNext) {
  BackgroundWorker worker;
  absl::Status result;
  worker.post([] { return absl::InternalError("tried"); });
  EXPECT_TRUE(worker.run_once());
  EXPECT_TRUE(worker.take_result(result));
  worker.post([] { return absl::OkStatus(); });
  EXPECT_TRUE(worker.run_once());
  EXPECT_TRUE(worker.take_result(result));
  EXPECT_TRUE(result.ok());
}

TEST(BackgroundWorker, ThreadRunsJobsAndTellsOfEach) {
  BackgroundWorker worker;
  std::atomic<int> told{0};
  std::atomic<int> runs{0};
  worker.start_thread([&] {
    told.fetch_add(1);
    told.notify_all();
  });
  for (int i = 0; i < 100; ++i) {
    worker.post([&] {
      runs.fetch_add(1);
      return absl::OkStatus();
    });
    told.wait(i);
    absl::Status result = absl::InternalError("none");
    ASSERT_TRUE(worker.take_result(result));
    EXPECT_TRUE(result.ok());
  }
  EXPECT_EQ(runs.load(), 100);
  worker.stop_thread();
  worker.stop_thread();
}

TEST(BackgroundWorker, JobPostedBeforeTheThreadExistsIsDone) {
  BackgroundWorker worker;
  std::atomic<bool> is_done{false};
  worker.post([] { return absl::OkStatus(); });
  worker.start_thread([&] {
    is_done.store(true);
    is_done.notify_all();
  });
  is_done.wait(false);
  absl::Status result;
  EXPECT_TRUE(worker.take_result(result));
}

TEST(BackgroundWorker, StoppedOneCanBeStartedAgain) {
  BackgroundWorker worker;
  worker.start_thread([] {});
  worker.stop_thread();
  std::atomic<int> told{0};
  worker.start_thread([&] {
    told.fetch_add(1);
    told.notify_all();
  });
  worker.post([] { return absl::OkStatus(); });
  told.wait(0);
  absl::Status result;
  EXPECT_TRUE(worker.take_result(result));
}

}  // namespace
}  // namespace gyre::storage

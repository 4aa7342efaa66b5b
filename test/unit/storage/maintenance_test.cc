#include "storage/maintenance.h"

#include <string>

#include <gtest/gtest.h>

namespace gyre::storage {
namespace {

class CountedTask final : public BackgroundTask {
 public:
  CountedTask(std::string name, std::string& diary) : name_(std::move(name)), diary_(diary) {}
  bool prepare() override { return jobs > 0; }
  absl::Status run() override {
    diary_ += name_;
    return result;
  }
  void finish(const absl::Status& status) override {
    --jobs;
    last = status;
  }

  int jobs = 0;
  absl::Status result;
  absl::Status last = absl::UnknownError("never finished");

 private:
  const std::string name_;
  std::string& diary_;
};

class MaintenanceTest : public testing::Test {
 protected:
  void turn() {
    maintenance_.work();
    maintenance_.run_once();
  }

  std::string diary_;
  CountedTask urgent_{"u", diary_};
  CountedTask patient_{"p", diary_};
  Maintenance maintenance_{{&urgent_, &patient_}};
};

TEST_F(MaintenanceTest, RestsWhileThereIsNothingToDo) {
  turn();
  EXPECT_FALSE(maintenance_.is_busy());
  EXPECT_EQ(diary_, "");
}

TEST_F(MaintenanceTest, WhatIsUrgentGoesBetweenTheJobsOfWhatIsNot) {
  patient_.jobs = 3;
  turn();
  urgent_.jobs = 2;
  for (int i = 0; i < 6; ++i) turn();
  EXPECT_EQ(diary_, "puupp");
  EXPECT_FALSE(maintenance_.is_busy());
}

TEST_F(MaintenanceTest, OneJobAtATime) {
  urgent_.jobs = 1;
  patient_.jobs = 1;
  maintenance_.work();
  maintenance_.work();
  EXPECT_TRUE(maintenance_.is_busy());
  EXPECT_TRUE(maintenance_.run_once());
  EXPECT_FALSE(maintenance_.run_once());
  EXPECT_EQ(diary_, "u");
}

TEST_F(MaintenanceTest, AFailureReachesItsTaskAndNoOther) {
  urgent_.jobs = 1;
  urgent_.result = absl::InternalError("tried");
  patient_.jobs = 1;
  for (int i = 0; i < 3; ++i) turn();
  EXPECT_EQ(urgent_.last, absl::InternalError("tried"));
  EXPECT_TRUE(patient_.last.ok());
}

TEST_F(MaintenanceTest, StoppingTakesTheLastResultAndBeginsNothing) {
  urgent_.jobs = 1;
  patient_.jobs = 1;
  turn();
  maintenance_.stop();
  EXPECT_TRUE(urgent_.last.ok());
  EXPECT_EQ(diary_, "u");
}

}  // namespace
}  // namespace gyre::storage

// Power failures at every operation of small histories, and at any operation of longer ones.
//
// What must hold: every record below durable() is there afterwards, none is altered, none is
// invented, and recovering twice is recovering once.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/storage/log_harness.h"

namespace gyre::storage {
namespace {

using test::SimFileSystem;

class CrashRun {
 public:
  CrashRun(std::uint64_t seed, Durability durability) : harness_(options(durability), seed) {}

  // Appends up to `records` records in a random rhythm until the power fails.
  void live(int records) {
    for (int i = 0; i < records && !is_off();) {
      switch (harness_.random.next_u64() % 4) {
        case 0:
        case 1: i += try_append(); break;
        case 2: harness_.log->start_commit(); break;
        default: run_writer_and_take(); break;
      }
      if (harness_.random.next_u64() % 16 == 0) harness_.log->request_sync();
      if (harness_.random.next_u64() % 8 == 0) harness_.clock.advance_ms(400);
      note_durable();
    }
    if (!is_off() && harness_.random.next_u64() % 2 == 0) {
      if (harness_.log->close().ok()) durable_ = appended_.size();
    }
  }

  // Opens the log, whose records must be a beginning of what was appended, with all that was
  // durable. False if the power failed again on the way.
  bool recover() {
    const absl::Status status = harness_.open();
    if (is_off()) {
      EXPECT_FALSE(status.ok());
      return false;
    }
    EXPECT_TRUE(status.ok()) << status.ToString();
    if (!status.ok()) return false;
    const std::vector<ReplayedRecord>& found = harness_.replayed;
    EXPECT_GE(found.size(), durable_);
    EXPECT_LE(found.size(), appended_.size());
    if (found.size() > appended_.size()) return false;
    for (std::size_t i = 0; i < found.size(); ++i) {
      EXPECT_EQ(found[i].number, i);
      EXPECT_EQ(found[i].payload, appended_[i].payload);
    }
    appended_.resize(found.size());
    durable_ = found.size();
    return !testing::Test::HasFailure();
  }

  void crash() {
    harness_.log.reset();
    harness_.files.crash(harness_.random);
  }

  bool is_off() const { return harness_.files.is_powered_off(); }
  LogHarness& harness() { return harness_; }

 private:
  static LogOptions options(Durability durability) {
    LogOptions options = small_log_options();
    options.durability = durability;
    return options;
  }

  int try_append() {
    const std::string payload = std::to_string(harness_.random.next_u64()) +
                                std::string(harness_.random.next_u64() % 900,
                                            static_cast<char>('a' + appended_.size() % 26));
    if (!harness_.log->has_room(payload.size())) return 0;
    harness_.append(payload);
    appended_.push_back({harness_.log->appended(), payload});
    return 1;
  }

  void run_writer_and_take() {
    if (harness_.random.next_u64() % 3 == 0) {
      (void)harness_.log->run_writer_once();
    } else {
      while (harness_.log->run_writer_once()) {
      }
    }
    // After the power is gone nobody is there to hear of it.
    if (!is_off()) harness_.log->take_completions();
  }

  void note_durable() {
    while (durable_ < appended_.size() && appended_[durable_].end <= harness_.log->durable()) {
      ++durable_;
    }
  }

  struct Appended {
    LogPosition end;
    std::string payload;
  };
  LogHarness harness_;
  std::vector<Appended> appended_;
  std::size_t durable_ = 0;
};

class LogCrash : public testing::TestWithParam<Durability> {};

INSTANTIATE_TEST_SUITE_P(Durability, LogCrash,
                         testing::Values(Durability::kFsync, Durability::kInterval,
                                         Durability::kOs));

TEST_P(LogCrash, EveryOperationIsAPlaceToFail) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    bool was_cut = true;
    for (std::uint64_t point = 0; was_cut; ++point) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " operation " << point);
      CrashRun run(seed, GetParam());
      run.harness().files.power_off_after(point);
      if (run.harness().open().ok()) run.live(14);
      was_cut = run.is_off();
      run.crash();
      ASSERT_TRUE(run.recover());
      const auto recovered = run.harness().files.contents();
      ASSERT_TRUE(run.recover());
      ASSERT_EQ(run.harness().files.contents(), recovered) << "recovering twice is once";
      EXPECT_EQ(run.harness().recovery.torn_bytes, 0u);
    }
  }
}

TEST_P(LogCrash, LongLivesWithManyFailures) {
  for (std::uint64_t seed = 1000; seed < 1150; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    CrashRun run(seed, GetParam());
    ASSERT_TRUE(run.harness().open().ok());
    for (int life = 0; life < 8; ++life) {
      run.harness().files.power_off_after(run.harness().random.next_u64() % 60);
      run.live(60);
      run.crash();
      // Recovery may be cut short, too, and has to be repeated.
      for (std::uint64_t operations = 0;; ++operations) {
        run.harness().files.power_off_after(operations);
        if (run.recover()) break;
        ASSERT_FALSE(HasFailure());
        run.crash();
      }
    }
  }
}

TEST_P(LogCrash, AKilledProcessLosesNothingThatWasWritten) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    CrashRun run(seed, GetParam());
    ASSERT_TRUE(run.harness().open().ok());
    run.live(40);
    const std::uint64_t written = run.harness().log->written().value;
    run.harness().log.reset();
    run.harness().files.kill_process();
    ASSERT_TRUE(run.recover());
    EXPECT_GE(run.harness().log->appended().value, written);
  }
}

}  // namespace
}  // namespace gyre::storage

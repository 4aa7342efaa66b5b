// Opening a log after damage: what is cut, what is refused, what the message says.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/log_format.h"
#include "unit/storage/log_harness.h"

namespace gyre::storage {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using Bytes = std::vector<std::uint8_t>;

class LogRecoveryTest : public testing::Test {
 protected:
  // `count` records, each in a commit of its own.
  void make_log(int count) {
    ASSERT_TRUE(harness_.open().ok());
    for (int i = 0; i < count; ++i) {
      positions_.push_back(harness_.append_next());
      harness_.turn();
    }
  }
  Bytes content(int segment) { return harness_.files.contents()[harness_.segment_path(segment)]; }
  void overwrite(int segment, Bytes bytes) {
    harness_.log.reset();
    harness_.files.overwrite(harness_.segment_path(segment), std::move(bytes));
  }
  std::string refusal() {
    const absl::Status status = harness_.open();
    EXPECT_TRUE(absl::IsDataLoss(status)) << status.ToString();
    return std::string(status.message());
  }

  LogHarness harness_;
  std::vector<LogPosition> positions_;
};

TEST_F(LogRecoveryTest, ATornTailIsCutToTheLastWholeRecord) {
  make_log(6);
  const Bytes good = content(1);
  const std::uint32_t last = positions_[5].offset();
  const std::uint32_t before_last = positions_[4].offset();
  const std::uint32_t end = harness_.log->appended().offset();
  for (std::uint32_t size = before_last; size < end; ++size) {
    for (const bool is_zeroed : {false, true}) {
      Bytes torn(good.begin(), good.begin() + static_cast<int>(size));
      if (is_zeroed) torn.resize(good.size(), 0);
      // Zeros may be just what was cut: padding.
      const bool has_fifth =
          size >= last ||
          (is_zeroed && std::equal(torn.begin(), torn.begin() + last, good.begin()));
      const bool has_sixth = is_zeroed && torn == good;
      const std::uint64_t count = has_sixth ? 6 : has_fifth ? 5 : 4;
      const std::uint32_t cut_at = has_sixth ? end : has_fifth ? last : before_last;
      overwrite(1, torn);
      ASSERT_TRUE(harness_.open().ok()) << size;
      harness_.expect_replayed(0, count);
      EXPECT_EQ(harness_.log->appended().offset(), cut_at);
      EXPECT_LE(harness_.recovery.torn_bytes, end - cut_at);
    }
  }
}

TEST_F(LogRecoveryTest, TheTornBytesAreCountedAndGone) {
  make_log(6);
  const std::uint32_t last = positions_[5].offset();
  Bytes torn = content(1);
  torn[last + 1] ^= 1;
  const std::uint32_t end = harness_.log->appended().offset();
  overwrite(1, torn);
  ASSERT_TRUE(harness_.open().ok());
  EXPECT_GT(harness_.recovery.torn_bytes, end - last - 8);
  EXPECT_LE(harness_.recovery.torn_bytes, end - last);
  const Bytes cut = content(1);
  EXPECT_TRUE(
      std::all_of(cut.begin() + last, cut.end(), [](std::uint8_t byte) { return byte == 0; }));
  ASSERT_TRUE(harness_.open().ok());
  EXPECT_EQ(harness_.recovery.torn_bytes, 0u);
  harness_.append_many(3);
  harness_.turn();
  ASSERT_TRUE(harness_.open().ok());
  harness_.expect_replayed(0, 8);
}

// Every byte of a log that was shut down cleanly.
TEST_F(LogRecoveryTest, EveryFlippedByteIsRefusedUnlessItOnlyHitTheLastMark) {
  make_log(25);
  ASSERT_TRUE(harness_.log->close().ok());
  const LogPosition end = harness_.log->appended();
  const std::uint32_t mark = end.offset() - kRecordHeaderBytes;
  harness_.log.reset();
  ASSERT_EQ(end.segment(), 2u);
  for (int segment = 1; segment <= 2; ++segment) {
    const Bytes good = content(segment);
    for (std::size_t i = 0; i < good.size(); ++i) {
      Bytes bad = good;
      bad[i] ^= 0x20;
      overwrite(segment, bad);
      const absl::Status status = harness_.open();
      if (segment == 2 && i >= mark) {
        ASSERT_TRUE(status.ok()) << i;
        harness_.expect_replayed(0, 25);
        EXPECT_GT(harness_.recovery.torn_bytes, 0u);
        harness_.log.reset();
      } else {
        ASSERT_FALSE(status.ok()) << segment << " " << i;
      }
    }
    overwrite(segment, good);
  }
  EXPECT_TRUE(harness_.open().ok());
}

// Without a clean shutdown the last two commits may be torn: a record knows what was durable when
// it was appended, and that excludes its own commit and the one in flight then.
TEST_F(LogRecoveryTest, EveryFlippedByteBeforeTheLastCommitsIsRefused) {
  make_log(10);
  const Bytes good = content(1);
  const std::uint32_t last = positions_[9].offset();
  const std::uint32_t end = harness_.log->appended().offset();
  for (std::uint32_t i = 0; i < end; ++i) {
    Bytes bad = good;
    bad[i] ^= 0x80;
    overwrite(1, bad);
    const absl::Status status = harness_.open();
    if (i < last) {
      ASSERT_FALSE(status.ok()) << i;
    } else {
      ASSERT_TRUE(status.ok()) << i;
      harness_.expect_replayed(0, 9);
    }
  }
}

TEST_F(LogRecoveryTest, TheRefusalNamesFileOffsetAndCure) {
  make_log(10);
  Bytes bad = content(1);
  bad[positions_[3].offset() + 20] ^= 1;
  overwrite(1, bad);
  EXPECT_THAT(refusal(), AllOf(HasSubstr(harness_.segment_path(1)),
                               HasSubstr("offset " + std::to_string(positions_[3].offset())),
                               HasSubstr("gyre check --repair")));
  EXPECT_EQ(content(1), bad) << "a refusal changes nothing";
}

TEST_F(LogRecoveryTest, ATornRecordInASealedSegmentIsDamage) {
  make_log(60);
  ASSERT_GT(positions_.back().segment(), 2u);
  Bytes bad = content(1);
  bad.resize(bad.size() - 8);
  overwrite(1, bad);
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("log-00000001.seg is damaged"), HasSubstr("gyre check --repair")));
}

TEST_F(LogRecoveryTest, AMissingSegmentIsRefused) {
  make_log(100);
  harness_.log.reset();
  ASSERT_GT(positions_.back().segment(), 3u);
  const Bytes good = content(2);
  ASSERT_TRUE(harness_.files.remove(harness_.segment_path(2)).ok());
  EXPECT_THAT(refusal(),
              AllOf(HasSubstr("log-00000002.seg is missing"), HasSubstr("gyre check --repair")));
  overwrite(2, good);
  ASSERT_TRUE(harness_.files.remove(harness_.segment_path(1)).ok());
  EXPECT_THAT(refusal(), HasSubstr("log-00000001.seg is missing"));
}

TEST_F(LogRecoveryTest, ASegmentUnderAnotherNameIsRefused) {
  make_log(60);
  overwrite(2, content(1));
  EXPECT_THAT(refusal(), HasSubstr("its header says that it is segment 1"));
}

TEST_F(LogRecoveryTest, ASegmentWithoutItsHeaderIsRefused) {
  make_log(3);
  const Bytes good = content(1);
  for (const std::size_t size : {0u, 1u, 63u}) {
    overwrite(1, Bytes(good.begin(), good.begin() + static_cast<int>(size)));
    EXPECT_THAT(refusal(), HasSubstr("too short"));
  }
  overwrite(1, Bytes(4096, 0));
  EXPECT_THAT(refusal(), HasSubstr("does not begin like a log segment"));
}

TEST_F(LogRecoveryTest, ASegmentOfALaterFormatIsRefusedByName) {
  make_log(3);
  Bytes later = content(1);
  later[8] = 3;
  overwrite(1, later);
  const absl::Status status = harness_.open();
  EXPECT_TRUE(absl::IsFailedPrecondition(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("log format 3"));
}

// No format will ever have it, so no newer gyre is asked for.
TEST_F(LogRecoveryTest, AVersionThatCannotBeIsDamage) {
  make_log(3);
  Bytes damaged = content(1);
  damaged[10] ^= 0x40;
  overwrite(1, damaged);
  EXPECT_TRUE(absl::IsDataLoss(harness_.open()));
}

TEST_F(LogRecoveryTest, OtherFilesOfTheFolderAreLeftAlone) {
  make_log(3);
  const std::string folder = LogHarness::kFolder;
  for (const char* name : {"/manifest", "/log-1.seg", "/log-000000002.seg", "/log-x.tmp"}) {
    harness_.files.overwrite(folder + name, {1, 2, 3});
  }
  harness_.files.overwrite(folder + "/log-00000002.seg.tmp", {1, 2, 3});
  ASSERT_TRUE(harness_.open().ok());
  harness_.expect_replayed(0, 3);
  EXPECT_TRUE(harness_.files.exists(folder + "/log-000000002.seg"));
  EXPECT_TRUE(harness_.files.exists(folder + "/log-x.tmp"));
  EXPECT_FALSE(harness_.files.exists(folder + "/log-00000002.seg.tmp"));
}

TEST_F(LogRecoveryTest, ReplayStartsAtEveryCheckpoint) {
  make_log(60);
  ASSERT_TRUE(harness_.log->close().ok());
  for (std::uint64_t first = 0; first < positions_.size(); ++first) {
    ASSERT_TRUE(harness_.open({positions_[first], first}).ok()) << first;
    harness_.expect_replayed(first, 60);
    EXPECT_EQ(harness_.log->next_number(), 60u);
    EXPECT_EQ(harness_.read(positions_[0]), payload_of(0)) << "what is older can still be read";
    ASSERT_TRUE(harness_.log->close().ok());
  }
}

TEST_F(LogRecoveryTest, ACheckpointAtTheEndReplaysNothing) {
  make_log(60);
  const EventLog::Start end{harness_.log->appended(), 60};
  const std::uint64_t bytes = harness_.log->bytes_on_disk();
  ASSERT_TRUE(harness_.log->close().ok());
  ASSERT_TRUE(harness_.open(end).ok());
  harness_.expect_replayed(60, 60);
  EXPECT_EQ(harness_.log->bytes_on_disk(), bytes + kRecordHeaderBytes) << "and the mark";
}

TEST_F(LogRecoveryTest, ACheckpointAtTheEndOfASealedSegmentGoesOnInTheNext) {
  ASSERT_TRUE(harness_.open().ok());
  EventLog::Start checkpoint;
  while (harness_.log->appended().segment() == 1) {
    checkpoint = {harness_.log->appended(), harness_.log->next_number()};
    harness_.append_next();
  }
  harness_.turn();
  ASSERT_TRUE(harness_.open(checkpoint).ok());
  harness_.expect_replayed(checkpoint.number, checkpoint.number + 1);
}

TEST_F(LogRecoveryTest, ACheckpointThatTheLogDoesNotReachIsRefused) {
  make_log(5);
  ASSERT_TRUE(harness_.log->close().ok());
  const LogPosition end = harness_.log->appended();
  const auto status_from = [&](LogPosition position, std::uint64_t number) {
    return harness_.open({position, number});
  };
  EXPECT_TRUE(absl::IsDataLoss(status_from(LogPosition::at(1, end.offset() + 4096), 5)));
  EXPECT_TRUE(absl::IsDataLoss(status_from(LogPosition::at(2, kSegmentHeaderBytes), 5)));
  EXPECT_TRUE(absl::IsDataLoss(status_from(LogPosition::at(1, 8), 5)));
  EXPECT_TRUE(absl::IsDataLoss(status_from(LogPosition::at(1, 67), 0)));
  EXPECT_TRUE(absl::IsDataLoss(status_from(LogPosition::at(0, 64), 5)));
  EXPECT_TRUE(status_from(end, 5).ok());
}

TEST_F(LogRecoveryTest, ACheckpointWhoseNumberIsWrongIsRefusedAndCutsNothing) {
  make_log(10);
  ASSERT_TRUE(harness_.log->close().ok());
  const auto before = harness_.files.contents();
  EXPECT_TRUE(absl::IsDataLoss(harness_.open({positions_[4], 3})));
  EXPECT_TRUE(absl::IsDataLoss(harness_.open({LogPosition::at(1, positions_[4].offset() + 8), 4})));
  EXPECT_EQ(harness_.files.contents(), before);
}

TEST_F(LogRecoveryTest, TheLogOfACheckpointMustExist) {
  EXPECT_TRUE(absl::IsDataLoss(harness_.open({LogPosition::at(1, 4000), 17})));
}

// A record of the cut tail must not become valid again behind a new record of the same length, if
// the power fails once more.
TEST(LogRecovery, WhatWasCutNeverComesBack) {
  LogOptions options = small_log_options();
  options.reserve_bytes = options.segment_bytes;
  // The record behind begins a sector, which the disk may keep as it was.
  constexpr std::size_t kToSectorEnd = 512 - 64 - 24 - 16;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    LogHarness harness(options, seed);
    ASSERT_TRUE(harness.open().ok());
    harness.append("kept");
    harness.turn();
    const LogPosition first = harness.append(std::string(kToSectorEnd, '1'));
    ASSERT_EQ(harness.log->appended().offset(), 512u);
    harness.append(std::string(600, '2'));
    harness.turn();
    Bytes torn = harness.files.contents()[harness.segment_path(1)];
    torn[first.offset()] ^= 1;
    harness.log.reset();
    harness.files.overwrite(harness.segment_path(1), torn);

    ASSERT_TRUE(harness.open().ok());
    ASSERT_EQ(harness.replayed.size(), 1u);
    const std::string fresh(kToSectorEnd, 'n');
    EXPECT_EQ(harness.append(fresh), first);
    harness.log->start_commit();
    harness.files.power_off_after(1);
    (void)harness.log->run_writer_once();
    harness.log.reset();
    harness.files.crash(harness.random);
    ASSERT_TRUE(harness.open().ok()) << seed;
    ASSERT_LE(harness.replayed.size(), 2u) << seed;
    if (harness.replayed.size() == 2) {
      EXPECT_EQ(harness.replayed[1].payload, fresh);
    }
  }
}

// What a killed process has written and not synced is believed only once it is synced.
TEST(LogRecovery, WhatWasReplayedIsDurable) {
  LogOptions options = small_log_options();
  options.durability = Durability::kOs;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    LogHarness harness(options, seed);
    ASSERT_TRUE(harness.open().ok());
    harness.append_many(5);
    harness.turn();
    harness.log.reset();
    harness.files.kill_process();
    ASSERT_TRUE(harness.open().ok());
    harness.expect_replayed(0, 5);
    EXPECT_EQ(harness.log->durable(), harness.log->appended());
    harness.log.reset();
    harness.files.crash(harness.random);
    ASSERT_TRUE(harness.open().ok());
    harness.expect_replayed(0, 5);
  }
}

}  // namespace
}  // namespace gyre::storage

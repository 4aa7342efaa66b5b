#include "gyre/storage/event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/log_format.h"
#include "unit/storage/log_harness.h"

namespace gyre::storage {
namespace {

using test::SimFileSystem;
using testing::HasSubstr;

TEST(EventLog, ANewLogIsEmpty) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  EXPECT_EQ(harness.log->next_number(), 0u);
  EXPECT_EQ(harness.log->appended(), LogPosition::at(1, kSegmentHeaderBytes));
  EXPECT_EQ(harness.log->durable(), harness.log->appended());
  EXPECT_EQ(harness.log->bytes_on_disk(), kSegmentHeaderBytes);
  EXPECT_EQ(harness.recovery.records, 0u);
}

TEST(EventLog, ARecordIsReadableFromTheTailAndLaterFromTheFile) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  const LogPosition first = harness.append("first");
  const LogPosition second = harness.append("second");
  EXPECT_EQ(harness.read(first), "first");
  EXPECT_EQ(harness.read(second), "second");
  harness.turn();
  EXPECT_EQ(harness.log->written(), harness.log->appended());
  EXPECT_EQ(harness.read(first), "first");
  EXPECT_EQ(harness.read(second), "second");
}

TEST(EventLog, PartsBecomeOnePayload) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  const ByteSpan parts[] = {as_bytes("one"), ByteSpan(), as_bytes("two"), as_bytes("three")};
  const LogPosition position = harness.log->append(RecordType::kRetire, parts);
  EXPECT_EQ(harness.read(position), "onetwothree");
  harness.turn();
  ASSERT_TRUE(harness.open().ok());
  ASSERT_EQ(harness.replayed.size(), 1u);
  EXPECT_EQ(harness.replayed[0].type, RecordType::kRetire);
  EXPECT_EQ(harness.replayed[0].payload, "onetwothree");
}

TEST(EventLog, PayloadsAreAlignedForTheirReaders) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  for (int turn = 0; turn < 2; ++turn) {
    for (int size = 0; size < 20; ++size) {
      const LogPosition position = harness.append(std::string(static_cast<std::size_t>(size), 'x'));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(harness.log->read(position).data()) % 8, 0u);
      EXPECT_EQ(position.offset() % 8, 0u);
    }
    harness.turn();
  }
}

TEST(EventLog, ARecordCostsSixteenBytesAndItsPadding) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  const std::uint64_t before = harness.log->bytes_on_disk();
  harness.append(std::string(100, 'x'));
  EXPECT_EQ(harness.log->bytes_on_disk() - before, 16u + 104u);
}

TEST(EventLog, ThePositionsFollowEachOther) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  const LogPosition start = harness.log->appended();
  harness.append("record");
  EXPECT_GT(harness.log->appended(), start);
  EXPECT_EQ(harness.log->written(), start);
  EXPECT_EQ(harness.log->acknowledged(), start);
  harness.log->start_commit();
  EXPECT_TRUE(harness.log->is_commit_in_flight());
  EXPECT_EQ(harness.log->written(), start);
  while (harness.log->run_writer_once()) {
  }
  EXPECT_EQ(harness.log->written(), start);
  EXPECT_TRUE(harness.log->take_completions());
  EXPECT_EQ(harness.log->durable(), harness.log->appended());
  EXPECT_EQ(harness.log->acknowledged(), harness.log->appended());
  EXPECT_FALSE(harness.log->take_completions());
}

TEST(EventLog, OneCommitTakesAllThatWasAppendedDuringTheLast) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.turn();
  harness.append("a");
  harness.log->start_commit();
  const LogPosition first = harness.log->appended();
  for (int i = 0; i < 5; ++i) harness.append("more");
  harness.log->start_commit();
  while (harness.log->run_writer_once()) {
  }
  harness.log->take_completions();
  EXPECT_EQ(harness.log->durable(), first);
  harness.turn();
  EXPECT_EQ(harness.log->durable(), harness.log->appended());
}

TEST(EventLog, AnIdleLogDoesNothing) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  for (int i = 0; i < 4; ++i) harness.turn();
  const std::uint64_t operations = harness.files.operation_count();
  for (int i = 0; i < 100; ++i) harness.turn();
  EXPECT_EQ(harness.files.operation_count(), operations);
  EXPECT_FALSE(harness.log->is_commit_in_flight());
}

TEST(EventLog, RecordsOfManySegmentsComeBackInOrder) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  std::vector<LogPosition> positions;
  for (int i = 0; i < 200; ++i) positions.push_back(harness.append_next());
  EXPECT_GT(positions.back().segment(), 5u);
  for (std::uint64_t i = 0; i < positions.size(); ++i) {
    EXPECT_EQ(harness.read(positions[i]), payload_of(i)) << i;
  }
  harness.turn();
  const LogPosition end = harness.log->appended();
  const std::uint64_t bytes = harness.log->bytes_on_disk();
  ASSERT_TRUE(harness.open().ok());
  harness.expect_replayed(0, 200);
  for (std::uint64_t i = 0; i < positions.size(); ++i) {
    EXPECT_EQ(harness.replayed[i].position, positions[i]);
    EXPECT_EQ(harness.read(positions[i]), payload_of(i)) << i;
  }
  EXPECT_EQ(harness.replayed.back().end, end);
  EXPECT_EQ(harness.log->appended(), end);
  EXPECT_EQ(harness.log->next_number(), 200u);
  EXPECT_EQ(harness.log->bytes_on_disk(), bytes);
  EXPECT_EQ(harness.recovery.records, 200u);
  EXPECT_EQ(harness.recovery.torn_bytes, 0u);
}

TEST(EventLog, ARecordOverManyChunksOfTheTailIsWhole) {
  LogOptions options;
  LogHarness harness(options);
  ASSERT_TRUE(harness.open().ok());
  std::string big(3'000'000, 'x');
  for (std::size_t i = 0; i < big.size(); ++i) big[i] = static_cast<char>('a' + i % 23);
  std::vector<LogPosition> positions;
  for (int i = 0; i < 4; ++i) {
    for (int k = 0; k < 3; ++k) positions.push_back(harness.append_next());
    while (!harness.log->has_room(big.size())) harness.turn();
    positions.push_back(harness.append(big));
    EXPECT_EQ(harness.read(positions.back()), big);
  }
  harness.turn();
  for (const LogPosition position : positions) {
    const std::string payload = harness.read(position);
    EXPECT_TRUE(payload == big || payload.size() < 400);
  }
  EXPECT_EQ(harness.read(positions.back()), big);
}

TEST(EventLog, TheTailHasABound) {
  LogOptions options;
  options.tail_bytes_max = 100'000;
  LogHarness harness(options);
  ASSERT_TRUE(harness.open().ok());
  int count = 0;
  for (; harness.log->has_room(1000); ++count) harness.append(std::string(1000, 'x'));
  EXPECT_EQ(count, 100'000 / 1016);
  EXPECT_FALSE(harness.log->is_disk_full());
  harness.turn();
  EXPECT_TRUE(harness.log->has_room(1000));
  EXPECT_TRUE(harness.log->has_room(200'000)) << "one record may exceed the bound";
  harness.append("x");
  EXPECT_FALSE(harness.log->has_room(200'000));
}

TEST(EventLog, WhatExceedsASegmentNeverHasRoom) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  const std::uint64_t most = harness.log->payload_bytes_max();
  EXPECT_EQ(most, 4096u - 64 - 16);
  for (int i = 0; i < 5; ++i) {
    EXPECT_FALSE(harness.log->has_room(most + 1));
    harness.turn();
  }
  harness.append("so that it must go to a segment of its own");
  for (int i = 0; i < 5 && !harness.log->has_room(most); ++i) harness.turn();
  ASSERT_TRUE(harness.log->has_room(most));
  const std::string payload(most, 'm');
  const LogPosition position = harness.append(payload);
  EXPECT_EQ(position, LogPosition::at(2, kSegmentHeaderBytes));
  harness.append_many(3);
  harness.turn();
  ASSERT_TRUE(harness.open().ok());
  EXPECT_EQ(harness.read(position), payload);
}

TEST(EventLog, OnlyOsDurabilityNeverSyncsByItself) {
  for (const Durability durability : {Durability::kInterval, Durability::kOs}) {
    LogOptions options = small_log_options();
    options.segment_bytes = 1 << 20;
    options.durability = durability;
    LogHarness harness(options);
    ASSERT_TRUE(harness.open().ok());
    harness.append_many(10);
    harness.turn();
    EXPECT_EQ(harness.log->written(), harness.log->appended());
    EXPECT_EQ(harness.log->acknowledged(), harness.log->written());
    EXPECT_LT(harness.log->durable(), harness.log->written());
    harness.clock.advance_ms(999);
    harness.turn();
    EXPECT_LT(harness.log->durable(), harness.log->written());
    harness.clock.advance_ms(1);
    harness.turn();
    EXPECT_EQ(harness.log->durable() == harness.log->written(),
              durability == Durability::kInterval);
  }
}

TEST(EventLog, ARequestedSyncCatchesUpWhateverTheDurability) {
  LogOptions options = small_log_options();
  options.durability = Durability::kOs;
  LogHarness harness(options);
  ASSERT_TRUE(harness.open().ok());
  harness.append_many(3);
  harness.turn();
  ASSERT_LT(harness.log->durable(), harness.log->written());
  harness.log->request_sync();
  harness.turn();
  EXPECT_EQ(harness.log->durable(), harness.log->written());
  const std::uint64_t operations = harness.files.operation_count();
  harness.turn();
  EXPECT_EQ(harness.files.operation_count(), operations);
}

TEST(EventLog, ASealedSegmentIsDurableWhateverTheDurability) {
  LogOptions options = small_log_options();
  options.durability = Durability::kOs;
  LogHarness harness(options);
  ASSERT_TRUE(harness.open().ok());
  while (harness.log->appended().segment() < 3) harness.append_next();
  harness.turn();
  EXPECT_EQ(harness.log->durable().segment(), 2u);
  EXPECT_EQ(harness.log->written(), harness.log->appended());
}

TEST(EventLog, ClosingMakesEverythingDurableAndGivesBackTheReserve) {
  LogOptions options = small_log_options();
  options.durability = Durability::kOs;
  LogHarness harness(options);
  ASSERT_TRUE(harness.open().ok());
  harness.append_many(30);
  ASSERT_TRUE(harness.log->close().ok());
  EXPECT_EQ(harness.log->durable(), harness.log->appended());
  EXPECT_EQ(harness.read(LogPosition::at(1, kSegmentHeaderBytes)), payload_of(0));
  EXPECT_FALSE(harness.log->has_room(1));
  EXPECT_EQ(harness.files.used_bytes(), harness.log->bytes_on_disk());
  harness.files.crash(harness.random);
  ASSERT_TRUE(harness.open().ok());
  harness.expect_replayed(0, 30);
  EXPECT_EQ(harness.recovery.torn_bytes, 0u);
}

TEST(EventLog, OpeningAndClosingAgainAddsNothing) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.append_many(5);
  ASSERT_TRUE(harness.log->close().ok());
  const auto before = harness.files.contents();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(harness.open().ok());
    EXPECT_EQ(harness.log->next_number(), 5u);
    ASSERT_TRUE(harness.log->close().ok());
    EXPECT_EQ(harness.files.contents(), before);
  }
}

TEST(EventLog, RecordsAfterACleanShutdownAreNumberedOn) {
  LogHarness harness;
  for (int round = 0; round < 6; ++round) {
    ASSERT_TRUE(harness.open().ok());
    harness.expect_replayed(0, static_cast<std::uint64_t>(round) * 4);
    harness.append_many(4);
    ASSERT_TRUE(harness.log->close().ok());
  }
}

TEST(EventLog, ALogThatIsNotClosedKeepsWhatItHasWritten) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.append_many(3);
  harness.turn();
  harness.append("never handed to the writer");
  harness.log.reset();
  harness.files.kill_process();
  ASSERT_TRUE(harness.open().ok());
  harness.expect_replayed(0, 3);
}

TEST(EventLog, ANewSegmentSizeAppliesToAnOldLog) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.append_many(100);
  harness.turn();
  for (const std::uint64_t bytes : {65536u, 4096u, 8192u}) {
    harness.options.segment_bytes = bytes;
    ASSERT_TRUE(harness.open().ok());
    harness.expect_replayed(0, harness.log->next_number());
    harness.append_many(100);
    harness.turn();
  }
  ASSERT_TRUE(harness.open().ok());
  harness.expect_replayed(0, 400);
}

TEST(EventLog, SenselessOptionsAreRefused) {
  LogOptions tiny;
  tiny.segment_bytes = 100;
  EXPECT_TRUE(absl::IsInvalidArgument(LogHarness(tiny).open()));
  LogOptions huge;
  huge.segment_bytes = std::uint64_t{5} << 30;
  EXPECT_TRUE(absl::IsInvalidArgument(LogHarness(huge).open()));
  LogOptions nothing;
  nothing.reserve_bytes = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(LogHarness(nothing).open()));
}

TEST(EventLog, AReplayThatRefusesEndsTheOpening) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.append_many(3);
  harness.turn();
  harness.log.reset();
  int seen = 0;
  const auto opened = EventLog::open(
      harness.files, LogHarness::kFolder, harness.options, harness.random, {},
      [&](const LogRecord& record) {
        ++seen;
        return record.number == 1 ? absl::DataLossError("what is this") : absl::OkStatus();
      },
      harness.recovery, harness.clock);
  EXPECT_TRUE(absl::IsDataLoss(opened.status()));
  EXPECT_EQ(seen, 2);
}

TEST(EventLogDeathTest, AppendingWithoutRoomIsAProgrammersError) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  EXPECT_DEATH(harness.append(std::string(5000, 'x')), "has_room");
}

TEST(EventLogDeathTest, AFailedSyncEndsTheProcess) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.turn();
  harness.append("record");
  harness.files.fail(SimFileSystem::Operation::kSync, 0, SimFileSystem::Fault::kIoError);
  EXPECT_EXIT(harness.turn(), testing::ExitedWithCode(1), "sync .*log-00000001.seg");
}

TEST(EventLogDeathTest, AFailedSyncEndsTheProcessEvenForWantOfSpace) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.turn();
  harness.append("record");
  harness.files.fail(SimFileSystem::Operation::kSync, 0, SimFileSystem::Fault::kNoSpace);
  EXPECT_EXIT(harness.turn(), testing::ExitedWithCode(1), "could not be written");
}

TEST(EventLogDeathTest, AFailedOrShortWriteEndsTheProcess) {
  for (const auto fault : {SimFileSystem::Fault::kIoError, SimFileSystem::Fault::kShortWrite,
                           SimFileSystem::Fault::kNoSpace}) {
    LogHarness harness;
    ASSERT_TRUE(harness.open().ok());
    harness.turn();
    harness.append("record");
    harness.files.fail(SimFileSystem::Operation::kWrite, 0, fault);
    EXPECT_EXIT(harness.turn(), testing::ExitedWithCode(1), "log-00000001.seg");
  }
}

TEST(EventLog, AFailedWriteIsNeverFollowedByASyncThatWorks) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.turn();
  const LogPosition durable = harness.log->durable();
  harness.append("record");
  harness.files.fail(SimFileSystem::Operation::kSync, 0, SimFileSystem::Fault::kIoError);
  harness.log->start_commit();
  EXPECT_TRUE(harness.log->run_writer_once());
  const std::uint64_t operations = harness.files.operation_count();
  while (harness.log->run_writer_once()) {
  }
  EXPECT_EQ(harness.files.operation_count(), operations);
  EXPECT_EQ(harness.log->durable(), durable);
}

TEST(EventLog, ClosingReportsAFailureInsteadOfEndingTheProcess) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.append_many(2);
  harness.files.fail(SimFileSystem::Operation::kSync, 0, SimFileSystem::Fault::kIoError);
  EXPECT_TRUE(absl::IsDataLoss(harness.log->close()));
}

}  // namespace
}  // namespace gyre::storage

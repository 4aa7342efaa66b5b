// The event log on a disk that is full, or nearly.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gyre/base/ids.h"
#include "unit/storage/log_harness.h"

namespace gyre::storage {
namespace {

using test::SimFileSystem;
using testing::HasSubstr;

// Appends until there is no room; true if that is because the disk is full.
bool fill(LogHarness& harness, std::size_t payload_bytes) {
  for (int idle_turns = 0; idle_turns < 20;) {
    if (harness.log->has_room(payload_bytes)) {
      harness.append(std::string(payload_bytes, 'f'));
      idle_turns = 0;
    } else {
      harness.turn();
      ++idle_turns;
    }
  }
  return harness.log->is_disk_full();
}

TEST(LogSpace, ASmallDiskIsUsedUpWithDefaultOptions) {
  LogHarness harness(LogOptions{});
  harness.files.set_capacity(64 * kMiB);
  ASSERT_TRUE(harness.open().ok());
  EXPECT_TRUE(fill(harness, 4000));
  EXPECT_GT(harness.log->bytes_on_disk(), 63 * kMiB);
  EXPECT_EQ(harness.log->durable(), harness.log->appended());
}

TEST(LogSpace, AStoreStartsOnADiskSmallerThanOneReservation) {
  LogHarness harness(LogOptions{});
  harness.files.set_capacity(200 * kKiB);
  ASSERT_TRUE(harness.open().ok());
  EXPECT_TRUE(fill(harness, 1000));
  EXPECT_GT(harness.log->bytes_on_disk(), 120 * kKiB);
}

TEST(LogSpace, AStoreCannotStartOnAFullDiskAndSaysSo) {
  LogHarness harness(LogOptions{});
  harness.files.set_capacity(1000);
  const absl::Status status = harness.open();
  EXPECT_TRUE(absl::IsResourceExhausted(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("log-00000001.seg"));
  EXPECT_EQ(harness.files.used_bytes(), 0u) << "nothing is left behind";
  harness.files.set_capacity(64 * kMiB);
  EXPECT_TRUE(harness.open().ok());
}

TEST(LogSpace, WhatFitsIntoReservedSpaceIsStillTaken) {
  LogHarness harness(LogOptions{});
  harness.files.set_capacity(1 * kMiB);
  ASSERT_TRUE(harness.open().ok());
  ASSERT_TRUE(fill(harness, 100'000));
  EXPECT_TRUE(harness.log->has_room(1000));
  EXPECT_TRUE(fill(harness, 1000));
}

// Who reserves for the worst case may append less; that may fit where the worst case does not.
TEST(LogSpace, RoomForManyBytesIsRoomForFewer) {
  LogOptions options;
  options.segment_bytes = 32 * kKiB;
  options.reserve_bytes = 2 * kKiB;
  LogHarness harness(options);
  ASSERT_TRUE(harness.open().ok());
  SeededRandom random(1);
  int appended = 0;
  for (int turns = 0; turns < 2000; ++turns) {
    const std::size_t promised = random.next_u64() % 8000;
    if (!harness.log->has_room(promised)) {
      harness.turn();
      continue;
    }
    for (std::size_t fewer = 0; fewer < promised; fewer += 97) {
      ASSERT_TRUE(harness.log->has_room(fewer)) << fewer << " of " << promised;
    }
    harness.append(std::string(promised / 16, 'f'));
    ++appended;
  }
  EXPECT_GT(appended, 500);
  EXPECT_GT(harness.log->appended().segment(), 5u);
}

TEST(LogSpace, WhenSpaceReturnsItIsFoundWithinASecond) {
  LogHarness harness(LogOptions{});
  harness.files.set_capacity(1 * kMiB);
  ASSERT_TRUE(harness.open().ok());
  ASSERT_TRUE(fill(harness, 1000));
  harness.files.set_capacity(20 * kMiB);
  harness.clock.advance_ms(999);
  harness.turn();
  EXPECT_TRUE(harness.log->is_disk_full());
  EXPECT_FALSE(harness.log->has_room(1000));
  harness.clock.advance_ms(1);
  harness.turn();
  EXPECT_FALSE(harness.log->is_disk_full());
  EXPECT_TRUE(harness.log->has_room(1000));
  const std::uint64_t number = harness.log->next_number();
  harness.append("after");
  harness.turn();
  ASSERT_TRUE(harness.open().ok());
  EXPECT_EQ(harness.log->next_number(), number + 1);
}

TEST(LogSpace, AFullDiskIsAskedOnceASecondOnly) {
  LogHarness harness(LogOptions{});
  harness.files.set_capacity(1 * kMiB);
  ASSERT_TRUE(harness.open().ok());
  ASSERT_TRUE(fill(harness, 1000));
  const std::uint64_t operations = harness.files.operation_count();
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(harness.log->has_room(1000));
    harness.turn();
  }
  EXPECT_EQ(harness.files.operation_count(), operations);
}

TEST(LogSpace, RecordsReadAndReopenOnAFullDisk) {
  LogHarness harness;
  harness.files.set_capacity(20'000);
  ASSERT_TRUE(harness.open().ok());
  const LogPosition first = harness.append("first");
  ASSERT_TRUE(fill(harness, 300));
  EXPECT_EQ(harness.read(first), "first");
  const std::uint64_t count = harness.log->next_number();
  ASSERT_TRUE(harness.open().ok());
  EXPECT_EQ(harness.log->next_number(), count);
  EXPECT_EQ(harness.read(first), "first");
  EXPECT_FALSE(harness.log->has_room(300));
  EXPECT_TRUE(harness.log->close().ok()) << "a full disk is no reason not to stop";
  ASSERT_TRUE(harness.open().ok());
  EXPECT_EQ(harness.log->next_number(), count);
}

TEST(LogSpace, TheEndOfASegmentIsNoEndWhileThereIsSpace) {
  LogHarness harness;
  harness.files.set_capacity(40'000);
  ASSERT_TRUE(harness.open().ok());
  EXPECT_TRUE(fill(harness, 300));
  EXPECT_GT(harness.log->appended().segment(), 7u);
  EXPECT_GT(harness.log->bytes_on_disk(), 36'000u);
}

// A folder that cannot take a name is a full disk that is noticed after the record was accepted.
TEST(LogSpace, RecordsWaitInTheTailForASegmentThatCannotBegin) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  while (harness.log->appended().segment() == 1) harness.append_next();
  const std::uint64_t count = harness.log->next_number();
  harness.files.fail(SimFileSystem::Operation::kRename, 0, SimFileSystem::Fault::kNoSpace);
  harness.turn();
  EXPECT_TRUE(harness.log->is_disk_full());
  EXPECT_EQ(harness.log->durable().segment(), 1u);
  EXPECT_LT(harness.log->durable(), harness.log->appended());
  harness.clock.advance_ms(1000);
  harness.turn();
  harness.turn();
  EXPECT_FALSE(harness.log->is_disk_full());
  EXPECT_EQ(harness.log->durable(), harness.log->appended());
  ASSERT_TRUE(harness.open().ok());
  harness.expect_replayed(0, count);
}

TEST(LogSpace, WantOfDescriptorsPasses) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  harness.files.fail(SimFileSystem::Operation::kCreate, 0, SimFileSystem::Fault::kNoDescriptors);
  EXPECT_TRUE(fill(harness, 300)) << "the next segment cannot be made";
  EXPECT_EQ(harness.log->appended().segment(), 1u);
  harness.clock.advance_ms(1000);
  harness.turn();
  EXPECT_FALSE(harness.log->is_disk_full());
  harness.append(std::string(300, 'x'));
  EXPECT_EQ(harness.log->appended().segment(), 2u);
}

TEST(LogSpace, ClosingWithoutSpaceForTheNextSegmentFailsWithAReason) {
  LogHarness harness;
  ASSERT_TRUE(harness.open().ok());
  while (harness.log->appended().segment() == 1) harness.append_next();
  harness.files.fail(SimFileSystem::Operation::kRename, 0, SimFileSystem::Fault::kNoSpace);
  const absl::Status status = harness.log->close();
  EXPECT_TRUE(absl::IsResourceExhausted(status)) << status.ToString();
}

}  // namespace
}  // namespace gyre::storage

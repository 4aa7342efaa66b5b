#include "gyre/storage/store.h"

#include <array>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

using test::pack_unsigned_event;
using test::pubkey_hex;
using Operation = test::SimFileSystem::Operation;
using Fault = test::SimFileSystem::Fault;

constexpr std::uint64_t kTime = 1'600'000'000;

PackedEvent note(std::uint64_t number, std::size_t content_bytes = 0, std::uint32_t key = 1) {
  return pack_unsigned_event(
      {.key_index = key, .created_at = kTime + number, .content = std::string(content_bytes, 'x')});
}

void open(StoreHarness& harness) {
  const absl::Status status = harness.open();
  ASSERT_TRUE(status.ok()) << status.ToString();
}

// Acknowledgement.

TEST(Store, WithFsyncAnEventIsAcknowledgedWhenItIsSynced) {
  StoreHarness harness;
  open(harness);
  const Store::PutResult result = harness.store->put(view_of(note(1)));
  EXPECT_EQ(result.verdict, Verdict::kAccept);
  EXPECT_EQ(result.position, harness.store->appended());
  EXPECT_LT(harness.store->acknowledged(), result.position);
  EXPECT_TRUE(harness.is_served(note(1)));  // Visible at once.
  EXPECT_FALSE(harness.store->work());
  EXPECT_TRUE(harness.store->is_working());
  EXPECT_LT(harness.store->acknowledged(), result.position);
  while (harness.store->run_background_once()) {
  }
  EXPECT_LT(harness.store->acknowledged(), result.position);
  EXPECT_TRUE(harness.store->work());
  EXPECT_GE(harness.store->acknowledged(), result.position);
  EXPECT_FALSE(harness.store->is_working());
}

TEST(Store, WhatIsAcknowledgedWithFsyncSurvivesAPowerFailure) {
  StoreHarness harness;
  open(harness);
  (void)harness.store->put(view_of(note(1)));
  harness.settle();
  (void)harness.store->put(view_of(note(2)));
  harness.end();
  harness.disk.crash(harness.random);
  open(harness);
  EXPECT_TRUE(harness.is_served(note(1)));
  EXPECT_FALSE(harness.is_served(note(2)));
}

TEST(Store, WithIntervalAnEventIsAcknowledgedWhenWrittenAndSyncedWithinASecond) {
  StoreHarness harness;
  harness.options.log.durability = Durability::kInterval;
  open(harness);
  const auto put = harness.store->put(view_of(note(1)));
  harness.settle();
  EXPECT_GE(harness.store->acknowledged(), put.position);
  EXPECT_LT(harness.store->sources().log.durable(), put.position);
  harness.clock.advance_s(1);
  harness.settle();
  EXPECT_GE(harness.store->sources().log.durable(), put.position);
}

TEST(Store, WithOsNothingIsSyncedUntilTheEnd) {
  StoreHarness harness;
  harness.options.log.durability = Durability::kOs;
  open(harness);
  const auto put = harness.store->put(view_of(note(1)));
  harness.clock.advance_s(100);
  harness.settle();
  EXPECT_GE(harness.store->acknowledged(), put.position);
  EXPECT_LT(harness.store->sources().log.durable(), put.position);
  EXPECT_TRUE(harness.store->close().ok());
  harness.end();
  harness.disk.crash(harness.random);
  open(harness);
  EXPECT_TRUE(harness.is_served(note(1)));
}

TEST(Store, WithOsACheckpointStillWaitsForTheLogToBeDurable) {
  StoreHarness harness;
  harness.options.log.durability = Durability::kOs;
  harness.options.postings.table_postings_max = 64;
  open(harness);
  harness.checkpoint();
  const std::uint64_t total = harness.store->statistics().events_total;
  harness.end();
  harness.disk.crash(harness.random);
  open(harness);
  EXPECT_EQ(harness.store->statistics().runs, 1u);
  EXPECT_GE(harness.store->statistics().events_total, total - 1);
}

TEST(Store, ThreadsOfItsOwnDoTheSame) {
  StoreHarness harness(StoreHarness::Disk::kPosix);
  harness.options.postings.table_postings_max = 64;
  open(harness);
  std::atomic<std::uint64_t> progress{0};
  harness.store->start_threads([&] {
    progress.fetch_add(1);
    progress.notify_all();
  });
  LogPosition last;
  for (std::uint64_t i = 0; i < 200; ++i) {
    Store::PutResult result = harness.store->put(view_of(note(i)));
    while (result.verdict == Verdict::kBusy) {
      const std::uint64_t seen = progress.load();
      harness.store->work();
      if (harness.store->is_working()) progress.wait(seen);
      result = harness.store->put(view_of(note(i)));
    }
    ASSERT_EQ(result.verdict, Verdict::kAccept);
    last = result.position;
  }
  while (true) {
    const std::uint64_t seen = progress.load();
    harness.store->work();
    if (harness.store->acknowledged() >= last && !harness.store->is_working()) break;
    if (harness.store->is_working()) progress.wait(seen);
  }
  EXPECT_TRUE(harness.store->close().ok());
  harness.reopen();
  EXPECT_GT(harness.store->statistics().runs, 0u);
  for (std::uint64_t i = 0; i < 200; ++i) EXPECT_TRUE(harness.is_served(note(i))) << i;
}

// Statistics.

TEST(Store, StatisticsCountTheLivingAndTheDead) {
  StoreHarness harness;
  open(harness);
  EXPECT_EQ(harness.store->statistics().events_total, 0u);
  for (std::uint64_t i = 0; i < 5; ++i) (void)harness.store->put(view_of(note(i)));
  const PackedEvent deletion = pack_unsigned_event(
      {.key_index = 1, .created_at = kTime, .kind = 5, .tags = {{"e", id_of(note(2))}}});
  (void)harness.store->put(view_of(deletion));
  harness.settle();
  const StoreStatistics before = harness.store->statistics();
  EXPECT_EQ(before.events_alive, 5u);
  EXPECT_EQ(before.events_total, 6u);
  EXPECT_GT(before.log_bytes, 6 * view_of(note(0)).bytes().size());
  // All, id, author, kind, author and kind for each; e and its tombstone for the request.
  EXPECT_EQ(before.postings, 6 * 5 + 3u);
  EXPECT_EQ(before.runs, 0u);
  harness.reopen();
  EXPECT_EQ(harness.store->statistics().events_alive, 5u);
  EXPECT_EQ(harness.store->statistics().events_total, 6u);
  EXPECT_EQ(harness.store->statistics().postings, before.postings);
}

TEST(Store, EndlessReplacementLeavesOneAlive) {
  StoreHarness harness;
  harness.options.postings.table_postings_max = 500;
  open(harness);
  for (std::uint64_t i = 0; i < 300; ++i) {
    const PackedEvent version = pack_unsigned_event({.key_index = 1,
                                                     .created_at = kTime + i,
                                                     .kind = 30'078,
                                                     .tags = {{"d", "n"}, {"t", "tick"}}});
    ASSERT_EQ(harness.store->put(view_of(version)).verdict, Verdict::kAccept) << i;
    harness.settle();
  }
  EXPECT_EQ(harness.store->statistics().events_alive, 1u);
  nostr::Filter filter;
  filter.kinds = {30'078};
  EXPECT_EQ(harness.find(filter).size(), 1u);
  harness.reopen();
  EXPECT_EQ(harness.store->statistics().events_alive, 1u);
  EXPECT_EQ(harness.find(filter).size(), 1u);
}

TEST(Store, DeathsThatACrashLeftInTheDirectoryAreCountedOnce) {
  StoreHarness harness;
  harness.options.postings.table_postings_max = 64;
  open(harness);
  std::vector<PackedEvent> events;
  for (std::uint64_t i = 0; i < 4; ++i) {
    events.push_back(note(i));
    (void)harness.store->put(view_of(events.back()));
  }
  harness.checkpoint();
  const std::uint64_t alive = harness.store->statistics().events_alive;
  const PackedEvent deletion = pack_unsigned_event(
      {.key_index = 1, .created_at = kTime, .kind = 5, .tags = {{"e", id_of(events[0])}}});
  (void)harness.store->put(view_of(deletion));
  // The next checkpoint writes the directory and fails before its manifest has its name.
  harness.disk.fail(Operation::kRename, 0, Fault::kIoError);
  std::uint64_t fillers = 0;
  for (; fillers < 20; ++fillers) {
    (void)harness.store->put(view_of(harness.next_filler()));
    harness.settle();
  }
  EXPECT_EQ(harness.store->statistics().runs, 1u);
  harness.end();
  harness.disk.kill_process();
  open(harness);
  EXPECT_EQ(harness.store->statistics().events_alive, alive + fillers);
  EXPECT_FALSE(harness.is_served(events[0]));
}

// Files of another gyre.

class StoreVersions : public testing::Test {
 protected:
  StoreVersions() {
    harness_.options.postings.table_postings_max = 64;
    open(harness_);
    for (int i = 0; i < 3; ++i) harness_.checkpoint();
    total_ = harness_.store->statistics().events_total;
    EXPECT_TRUE(harness_.store->close().ok());
    harness_.end();
  }
  void set_byte(const std::string& name, std::size_t offset, std::uint8_t value) {
    std::vector<std::uint8_t> content = harness_.disk.contents().at("store/shard-000/" + name);
    content.at(offset) = value;
    harness_.disk.overwrite("store/shard-000/" + name, content);
  }
  void expect_everything() {
    EXPECT_EQ(harness_.store->statistics().events_total, total_);
    EXPECT_EQ(harness_.find({}).size(), total_);
  }

  static constexpr std::size_t kVersionOffset = 8;  // In every file.
  StoreHarness harness_;
  std::uint64_t total_ = 0;
};

TEST_F(StoreVersions, IndexOfAnOlderOneIsMadeAgainFromTheLog) {
  for (const std::string name : {"manifest", "directory"}) {
    set_byte(name, kVersionOffset, 1);
    open(harness_);
    expect_everything();
    harness_.checkpoint();
    total_ = harness_.store->statistics().events_total;
    harness_.reopen();
    expect_everything();
    harness_.end();
  }
}

TEST_F(StoreVersions, APowerFailureWhileTheIndexIsMadeAgainLosesNothing) {
  set_byte("manifest", kVersionOffset, 1);
  set_byte("directory", kVersionOffset, 1);
  for (std::uint64_t operations = 0; operations < 12; ++operations) {
    harness_.disk.power_off_after(operations);
    (void)harness_.open();
    harness_.end();
    harness_.disk.crash(harness_.random);
  }
  harness_.disk.power_off_after(UINT32_MAX);
  open(harness_);
  expect_everything();
}

TEST_F(StoreVersions, IndexOfANewerOneIsRefused) {
  for (const std::string name : {"manifest", "directory"}) {
    set_byte(name, kVersionOffset, 3);
    const absl::Status status = harness_.open();
    EXPECT_TRUE(absl::IsDataLoss(status));
    EXPECT_NE(status.message().find("format 3"), absl::string_view::npos) << status.ToString();
    harness_.end();
    set_byte(name, kVersionOffset, 2);
  }
  open(harness_);
  expect_everything();
}

TEST(Store, ALongLogIsIndexedTableByTable) {
  StoreHarness harness;
  open(harness);
  for (std::uint64_t i = 0; i < 400; ++i) {
    ASSERT_EQ(harness.store->put(view_of(note(i))).verdict, Verdict::kAccept);
    if (i % 10 == 0) harness.settle();
  }
  harness.settle();
  // As if the index was lost: everything is replayed, but never more than a table is in memory.
  harness.options.postings.table_postings_max = 64;
  harness.reopen();
  EXPECT_GE(harness.store->statistics().runs, 25u);
  EXPECT_LT(harness.store->statistics().table_postings, 2u * 64);
  EXPECT_EQ(harness.store->statistics().events_alive, 400u);
  EXPECT_EQ(harness.find({}).size(), 400u);
  harness.end();
  harness.disk.crash(harness.random);
  open(harness);
  EXPECT_EQ(harness.store->statistics().events_alive, 400u);
  EXPECT_EQ(harness.find({}).size(), 400u);
}

TEST(Store, ALongLogIsIndexedOnAFullDiskToo) {
  StoreHarness harness;
  open(harness);
  for (std::uint64_t i = 0; i < 200; ++i) {
    ASSERT_EQ(harness.store->put(view_of(note(i))).verdict, Verdict::kAccept);
    harness.settle();
  }
  harness.options.postings.table_postings_max = 64;
  harness.disk.set_capacity(harness.disk.used_bytes());
  harness.reopen();
  EXPECT_EQ(harness.find({}).size(), 200u);
  EXPECT_EQ(harness.store->statistics().runs, 0u);
  harness.disk.set_capacity(UINT64_MAX);
  harness.clock.advance_s(3);
  harness.settle();
  EXPECT_GE(harness.store->statistics().runs, 1u);
  EXPECT_EQ(harness.find({}).size(), 200u);
}

// Causes of death.

TEST(Store, OnlyAVersionThatANewerOneReplacedIsSuperseded) {
  StoreHarness harness;
  harness.options.postings.table_postings_max = 64;
  open(harness);
  const auto profile = [](std::uint64_t number) {
    return pack_unsigned_event({.key_index = 1, .created_at = kTime + number, .kind = 0});
  };
  const PackedEvent deletion =
      pack_unsigned_event({.key_index = 1,
                           .created_at = kTime + 10,
                           .kind = 5,
                           .tags = {{"e", id_of(profile(1))}, {"e", id_of(note(2))}}});
  (void)harness.store->put(view_of(profile(0)));
  harness.checkpoint();  // The death of the first reaches the file at the next.
  const Sequence first = 0;
  const Sequence second = harness.store->put(view_of(profile(1))).sequence;
  const Sequence third = harness.store->put(view_of(note(2))).sequence;
  (void)harness.store->put(view_of(deletion));
  const auto expect_flags = [&] {
    const Directory& directory = harness.store->sources().directory;
    EXPECT_EQ(directory.row(first).flags, kRowDead | kRowSuperseded);
    EXPECT_EQ(directory.row(second).flags, kRowDead);
    EXPECT_EQ(directory.row(third).flags, kRowDead);
  };
  expect_flags();
  harness.settle();
  harness.reopen();
  expect_flags();
  harness.checkpoint();
  harness.reopen();
  expect_flags();
}

// A disk without space.

class FullDisk : public testing::Test {
 protected:
  FullDisk() { open(harness_); }

  // Puts events until one is refused; those that came in are remembered.
  void fill() {
    harness_.disk.set_capacity(harness_.disk.used_bytes() + 20'000);
    for (std::uint64_t i = 0; i < 10'000; ++i) {
      const Verdict verdict = put(next());
      if (verdict == Verdict::kDiskFull) return;
      ASSERT_EQ(verdict, Verdict::kAccept);
    }
    FAIL() << "the disk never filled";
  }
  Verdict put(const PackedEvent& event) {
    Store::PutResult result = harness_.store->put(view_of(event));
    for (int i = 0; result.verdict == Verdict::kBusy && i < 10; ++i) {
      harness_.settle();
      result = harness_.store->put(view_of(event));
    }
    harness_.settle();
    if (result.verdict == Verdict::kAccept) accepted_.push_back(event);
    if (result.verdict != Verdict::kAccept) refused_.push_back(event);
    return result.verdict;
  }
  PackedEvent next() { return note(number_++, 1000); }
  void expect_exactly_the_accepted() {
    for (const PackedEvent& event : accepted_) EXPECT_TRUE(harness_.is_served(event));
    for (const PackedEvent& event : refused_) EXPECT_FALSE(harness_.is_served(event));
    EXPECT_EQ(harness_.store->statistics().events_alive, accepted_.size());
  }

  StoreHarness harness_;
  std::vector<PackedEvent> accepted_;
  std::vector<PackedEvent> refused_;
  std::uint64_t number_ = 0;
};

TEST_F(FullDisk, EventsAreRefusedAndNothingIsChanged) {
  fill();
  const StoreStatistics before = harness_.store->statistics();
  const LogPosition end = harness_.store->appended();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(put(next()), Verdict::kDiskFull);
  EXPECT_EQ(harness_.store->appended(), end);
  EXPECT_EQ(harness_.store->statistics().postings, before.postings);
  EXPECT_EQ(put(accepted_.front()), Verdict::kDuplicate);
  refused_.pop_back();
  expect_exactly_the_accepted();
}

TEST_F(FullDisk, ARefusedVersionLeavesTheOldOneAlive) {
  const auto version = [](std::uint64_t number) {
    return pack_unsigned_event({.key_index = 2,
                                .created_at = kTime + number,
                                .kind = 0,
                                .content = std::string(2000, 'y')});
  };
  EXPECT_EQ(put(version(0)), Verdict::kAccept);
  fill();
  EXPECT_EQ(put(version(1)), Verdict::kDiskFull);
  expect_exactly_the_accepted();
}

TEST_F(FullDisk, RefusedRequestsAndSweepsTakeNoEffect) {
  const PackedEvent expiring =
      pack_unsigned_event({.key_index = 3,
                           .created_at = kTime,
                           .tags = {{"expiration", std::to_string(harness_.clock.unix_s() + 5)}}});
  EXPECT_EQ(put(expiring), Verdict::kAccept);
  fill();
  // Small records still find the odd byte, so the space is used up to the last.
  for (int i = 0; i < 1000 && put(note(number_++)) == Verdict::kAccept; ++i) {
  }
  const PackedEvent vanish = pack_unsigned_event({.key_index = 1,
                                                  .created_at = kTime + 1'000'000,
                                                  .kind = 62,
                                                  .tags = {{"relay", "ALL_RELAYS"}}});
  EXPECT_EQ(put(vanish), Verdict::kDiskFull);
  EXPECT_EQ(harness_.store->apply_foreign_request(view_of(vanish)).verdict, Verdict::kDiskFull);
  expect_exactly_the_accepted();
  harness_.disk.set_capacity(UINT64_MAX);
  harness_.clock.advance_s(6);
  harness_.settle();
  EXPECT_FALSE(harness_.store->sweep_expired(16));
  EXPECT_FALSE(harness_.is_served(expiring));
  EXPECT_EQ(harness_.store->statistics().events_alive, accepted_.size() - 1);
}

TEST_F(FullDisk, WritesGoOnWhenSpaceComesBack) {
  fill();
  harness_.disk.set_capacity(UINT64_MAX);
  harness_.clock.advance_s(2);
  harness_.settle();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(put(next()), Verdict::kAccept);
  expect_exactly_the_accepted();
  harness_.reopen();
  expect_exactly_the_accepted();
}

TEST_F(FullDisk, AStoreOpensOnIt) {
  fill();
  harness_.disk.set_capacity(harness_.disk.used_bytes());
  harness_.reopen();
  expect_exactly_the_accepted();
}

TEST_F(FullDisk, ClosingOnItIsNoError) {
  harness_.end();
  harness_.options.postings.table_postings_max = 1000;
  open(harness_);
  fill();
  EXPECT_TRUE(harness_.store->close().ok());
  harness_.reopen();
  expect_exactly_the_accepted();
}

TEST(Store, PostingsThatNoCheckpointTakesAwayRefuseEventsUntilOneDoes) {
  StoreHarness harness;
  harness.options.postings.table_postings_max = 64;
  open(harness);
  // Every run fails for want of space, while the log has plenty.
  Verdict verdict = Verdict::kAccept;
  std::uint64_t accepted = 0;
  for (std::uint64_t i = 0; i < 200 && verdict == Verdict::kAccept; ++i) {
    harness.disk.fail(Operation::kCreate, 0, Fault::kNoSpace);
    verdict = harness.store->put(view_of(note(i))).verdict;
    accepted += verdict == Verdict::kAccept ? 1 : 0;
    harness.settle();
    harness.clock.advance_s(3);
  }
  EXPECT_EQ(verdict, Verdict::kDiskFull);
  EXPECT_LT(accepted, 64u);
  harness.disk.kill_process();  // Forgets the planned fault.
  harness.clock.advance_s(3);
  harness.settle();
  EXPECT_GT(harness.store->statistics().runs, 0u);
  EXPECT_EQ(harness.store->put(view_of(note(1000))).verdict, Verdict::kAccept);
  EXPECT_EQ(harness.store->statistics().events_alive, accepted + 1);
}

TEST(Store, ACheckpointThatIsMerelySlowMakesEventsWait) {
  StoreHarness harness;
  harness.options.postings.table_postings_max = 64;
  open(harness);
  Verdict verdict = Verdict::kAccept;
  for (std::uint64_t i = 0; i < 200 && verdict == Verdict::kAccept; ++i) {
    verdict = harness.store->put(view_of(note(i))).verdict;
    harness.store->work();
  }
  EXPECT_EQ(verdict, Verdict::kBusy);
  EXPECT_TRUE(harness.store->is_working());
  harness.settle();
  EXPECT_EQ(harness.store->put(view_of(note(1000))).verdict, Verdict::kAccept);
}

// Records that are too large.

TEST(Store, EventLargerThanASegmentIsRefusedForGood) {
  StoreHarness harness;
  harness.options.log.segment_bytes = 16 * 1024;
  open(harness);
  EXPECT_EQ(harness.store->put(view_of(note(1, 20'000))).verdict, Verdict::kTooLarge);
  harness.settle();
  EXPECT_EQ(harness.store->put(view_of(note(1, 20'000))).verdict, Verdict::kTooLarge);
  EXPECT_EQ(harness.store->put(view_of(note(2))).verdict, Verdict::kAccept);
  EXPECT_EQ(harness.store->statistics().events_total, 1u);
}

TEST(Store, VanishOfMoreEventsThanARecordHoldsTakesThemAll) {
  StoreHarness harness;
  harness.options.log.segment_bytes = 4 * 1024;
  harness.options.log.reserve_bytes = 4 * 1024;
  open(harness);
  const PackedEvent vanish = pack_unsigned_event({.key_index = 1,
                                                  .created_at = kTime + 1'000'000,
                                                  .kind = 62,
                                                  .tags = {{"relay", "ALL_RELAYS"}}});
  const auto put = [&](const PackedEvent& event) {
    Verdict verdict = Verdict::kBusy;
    for (int i = 0; verdict == Verdict::kBusy && i < 100; ++i) {
      verdict = harness.store->put(view_of(event)).verdict;
      harness.settle();
    }
    return verdict;
  };
  for (std::uint64_t i = 0; i < 1500; ++i) ASSERT_EQ(put(note(i)), Verdict::kAccept);
  ASSERT_EQ(put(note(0, 0, 2)), Verdict::kAccept);
  EXPECT_EQ(put(vanish), Verdict::kAccept);
  EXPECT_EQ(harness.store->statistics().events_alive, 2u);
  harness.reopen();
  EXPECT_EQ(harness.store->statistics().events_alive, 2u);
  EXPECT_EQ(harness.find({}).size(), 2u);
  EXPECT_EQ(put(note(7)), Verdict::kVanished);
}

// Checkpoints that fail.

class FailingCheckpoint : public testing::TestWithParam<Operation> {};

TEST_P(FailingCheckpoint, IsTriedAgainAndLeavesNothingBehind) {
  for (std::uint64_t skipped = 0; skipped < 8; ++skipped) {
    StoreHarness harness(StoreHarness::Disk::kSimulated, skipped);
    harness.options.postings.table_postings_max = 64;
    open(harness);
    for (std::uint64_t i = 0; harness.store->statistics().runs < 2; ++i) {
      ASSERT_LT(i, 300u);
      // Not the log's own files, which end the process; checkpoints run when the log has settled.
      harness.store->work();
      (void)harness.store->put(view_of(note(i)));
      harness.store->work();
      while (harness.store->sources().log.is_commit_in_flight()) {
        harness.store->run_background_once();
        harness.store->work();
      }
      if (i == 20) harness.disk.fail(GetParam(), skipped, Fault::kIoError);
      harness.clock.advance_s(3);
    }
    const std::uint64_t total = harness.store->statistics().events_total;
    harness.end();
    harness.disk.kill_process();
    open(harness);
    EXPECT_EQ(harness.store->statistics().events_total, total);
    EXPECT_EQ(harness.find({}).size(), total);
    std::size_t run_files = 0;
    for (const auto& [path, content] : harness.disk.contents()) {
      if (path.find("/run-") != std::string::npos) ++run_files;
    }
    EXPECT_EQ(run_files, harness.store->statistics().runs);
  }
}

INSTANTIATE_TEST_SUITE_P(AtEachStep, FailingCheckpoint,
                         testing::Values(Operation::kCreate, Operation::kRename,
                                         Operation::kSyncDirectory),
                         [](const testing::TestParamInfo<Operation>& step) {
                           switch (step.param) {
                             case Operation::kCreate: return "Create";
                             case Operation::kRename: return "Rename";
                             default: return "SyncDirectory";
                           }
                         });

TEST(Store, ClockThatIsSetBackLeavesNothingUnswept) {
  StoreHarness harness;
  open(harness);
  const std::int64_t now_s = harness.clock.unix_s();
  harness.clock.advance_s(100);
  EXPECT_FALSE(harness.store->sweep_expired(16));
  harness.clock.set_unix_s(now_s);
  const PackedEvent event = pack_unsigned_event(
      {.key_index = 1, .created_at = kTime, .tags = {{"expiration", std::to_string(now_s + 10)}}});
  EXPECT_EQ(harness.store->put(view_of(event)).verdict, Verdict::kAccept);
  EXPECT_FALSE(harness.store->sweep_expired(16));
  EXPECT_EQ(harness.store->statistics().events_alive, 1u);
  harness.clock.set_unix_s(now_s + 20);
  EXPECT_FALSE(harness.store->sweep_expired(16));
  EXPECT_EQ(harness.store->statistics().events_alive, 0u);
}

TEST(Store, SweepOfManyLooksAtEachOnce) {
  StoreHarness harness;
  open(harness);
  for (std::uint64_t i = 0; i < 500; ++i) {
    const PackedEvent event =
        pack_unsigned_event({.key_index = 1,
                             .created_at = kTime + i,
                             .tags = {{"expiration", std::to_string(harness.clock.unix_s() + 5)}}});
    Verdict verdict = harness.store->put(view_of(event)).verdict;
    harness.settle();
    if (verdict == Verdict::kBusy) verdict = harness.store->put(view_of(event)).verdict;
    ASSERT_EQ(verdict, Verdict::kAccept);
  }
  harness.clock.advance_s(5);
  std::uint64_t slices = 1;
  while (harness.store->sweep_expired(50)) {
    harness.settle();
    ++slices;
  }
  EXPECT_EQ(slices, 10u);
  EXPECT_EQ(harness.store->statistics().events_alive, 0u);
  // After a restart the dead ones are passed over in slices as well.
  harness.reopen();
  slices = 1;
  while (harness.store->sweep_expired(50)) ++slices;
  EXPECT_EQ(slices, 10u);
}

TEST(Store, OwnerOfAnAuthorIsAlwaysTheSameAndAuthorsAreSpread) {
  const std::array<std::uint8_t, 16> key = {1, 2, 3};
  std::array<int, 4> counts{};
  for (std::uint32_t i = 0; i < 200; ++i) {
    Bytes32 pubkey;
    pubkey.bytes[5] = static_cast<std::uint8_t>(i);
    const ShardId owner = owner_shard(pubkey, key, 4);
    ASSERT_LT(owner, 4);
    EXPECT_EQ(owner, owner_shard(pubkey, key, 4));
    EXPECT_EQ(owner_shard(pubkey, key, 1), 0);
    ++counts[owner];
  }
  for (const int count : counts) EXPECT_GT(count, 25);
}

TEST(Store, RequestsThatOtherShardsMustHearOf) {
  const auto has_effects = [](std::uint16_t kind, std::vector<std::vector<std::string>> tags) {
    return Store::has_foreign_effects(
        view_of(pack_unsigned_event({.kind = kind, .tags = std::move(tags)})));
  };
  const std::string id(64, 'a');
  EXPECT_TRUE(has_effects(62, {{"relay", "ALL_RELAYS"}}));
  EXPECT_TRUE(has_effects(5, {{"e", id}}));
  EXPECT_TRUE(has_effects(5, {{"e"}, {"e", "x"}, {"e", id}}));
  EXPECT_FALSE(has_effects(5, {{"a", "30023:" + id + ":"}}));
  EXPECT_FALSE(has_effects(5, {{"e", "x"}}));
  EXPECT_FALSE(has_effects(1, {{"e", id}}));
}

}  // namespace
}  // namespace gyre::storage

#include "gyre/storage/cold_reads.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "gyre/base/ids.h"
#include "log_harness.h"
#include "manual_file_reader.h"

namespace gyre::storage {
namespace {

using State = ColdReads::State;

class ColdReadsTest : public ::testing::Test {
 protected:
  explicit ColdReadsTest(std::uint64_t segment_bytes = kMiB)
      : log_(options(segment_bytes)), reader_(log_.files) {
    EXPECT_TRUE(log_.open().ok());
    reads_.emplace(*log_.log);
    reads_->read_by(&reader_);
  }
  static LogOptions options(std::uint64_t segment_bytes) {
    LogOptions options = small_log_options();
    options.segment_bytes = segment_bytes;
    options.reserve_bytes = segment_bytes;
    options.tail_bytes_max = 64 * kMiB;
    options.resident_bytes = 0;
    return options;
  }

  // A record that has left the memory.
  LogPosition put(std::string_view payload) {
    const LogPosition position = log_.append(payload);
    log_.turn();
    return position;
  }
  std::string payload(const ColdRead& read) { return std::string(as_text(reads_->payload(read))); }
  // Changes one byte on the disk.
  void damage(LogPosition position, std::uint32_t at) {
    const std::string path = log_.segment_path(static_cast<int>(position.segment()));
    std::unique_ptr<File> file = *log_.files.open(path, FileSystem::OpenMode::kReadWrite);
    std::uint8_t byte = 0;
    ASSERT_TRUE(file->read_at(position.offset() + at, {&byte, 1}).ok());
    byte ^= 0x10;
    const ByteSpan part(&byte, 1);
    ASSERT_TRUE(file->write_at(position.offset() + at, {&part, 1}).ok());
  }

  LogHarness log_;
  ManualFileReader reader_;
  std::optional<ColdReads> reads_;
  CountingWaiter waiter_;
};

TEST_F(ColdReadsTest, NothingIsColdWithoutAReader) {
  const LogPosition position = put("a");
  EXPECT_TRUE(reads_->is_cold(position));
  reads_->read_by(nullptr);
  EXPECT_FALSE(reads_->is_cold(position));
}

TEST_F(ColdReadsTest, WhatIsNotWrittenYetIsInMemory) {
  const LogPosition position = log_.append("a");
  EXPECT_FALSE(reads_->is_cold(position));
}

TEST_F(ColdReadsTest, ARecordIsThereWhenItsReadIsDone) {
  const LogPosition position = put("hello");
  const ColdRead read = reads_->start_ahead(position);
  EXPECT_EQ(reads_->need(read, &waiter_), State::kReading);
  EXPECT_EQ(reads_->in_flight(), 1u);
  EXPECT_EQ(waiter_.calls, 0);
  reader_.complete(0);
  EXPECT_EQ(waiter_.calls, 1);
  EXPECT_EQ(reads_->in_flight(), 0u);
  ASSERT_EQ(reads_->need(read, &waiter_), State::kReady);
  EXPECT_EQ(payload(read), "hello");
}

TEST_F(ColdReadsTest, ReadsInPiecesAndInterruptionsMakeOneRecord) {
  const std::string text(1'900, 'x');
  const ColdRead read = reads_->start_ahead(put(text));
  for (const std::size_t bytes : {3u, 20u, 1'000u}) {
    reader_.complete(0, bytes);
    reader_.fail(0, EINTR);
    reader_.fail(0, EAGAIN);
  }
  reader_.complete_all();
  ASSERT_EQ(reads_->need(read, nullptr), State::kReady);
  EXPECT_EQ(payload(read), text);
}

TEST_F(ColdReadsTest, TheRestOfALongRecordIsReadWhenItIsNeeded) {
  const std::string text(300'000, 'y');
  const ColdRead read = reads_->start_ahead(put(text));
  reader_.complete(0);
  EXPECT_EQ(reader_.count(), 0u) << "read ahead in whole";
  EXPECT_EQ(reads_->need(read, &waiter_), State::kReading);
  reader_.complete(0, 100'000);
  reader_.complete_all();
  EXPECT_EQ(waiter_.calls, 1);
  ASSERT_EQ(reads_->need(read, nullptr), State::kReady);
  EXPECT_EQ(payload(read), text);
}

TEST_F(ColdReadsTest, RecordsOfAllSizesAreReadWhole) {
  std::vector<std::pair<LogPosition, std::string>> records;
  for (std::size_t size = 0; size < 9'000; size += 97) {
    const std::string text(size, static_cast<char>('a' + size % 26));
    records.emplace_back(put(text), text);
  }
  for (const auto& [position, text] : records) {
    const ColdRead read = reads_->start_ahead(position);
    while (reads_->need(read, nullptr) == State::kReading) reader_.complete_all();
    ASSERT_EQ(reads_->need(read, nullptr), State::kReady) << text.size();
    EXPECT_EQ(payload(read), text);
  }
  EXPECT_EQ(log_.log->damage().records, 0u);
}

TEST_F(ColdReadsTest, AFlippedBitMakesARecordUnreadableAndIsReportedOnce) {
  const LogPosition position = put("something that somebody signed");
  const LogPosition other = put("another");
  damage(position, 25);
  for (int i = 0; i < 3; ++i) {
    const ColdRead read = reads_->start_ahead(position);
    reader_.complete_all();
    EXPECT_EQ(reads_->need(read, nullptr), State::kUnreadable);
  }
  EXPECT_EQ(log_.log->damage().records, 1u);
  const ColdRead read = reads_->start_ahead(other);
  reader_.complete_all();
  EXPECT_EQ(reads_->need(read, nullptr), State::kReady);
}

TEST_F(ColdReadsTest, ALengthThatLeadsOutOfTheFileIsDamage) {
  const LogPosition position = put("short");
  damage(position, 6);  // The length's highest byte: a mebibyte more.
  const ColdRead read = reads_->start_ahead(position);
  while (reads_->need(read, nullptr) == State::kReading) reader_.complete_all();
  EXPECT_EQ(reads_->need(read, nullptr), State::kUnreadable);
  EXPECT_EQ(log_.log->damage().records, 1u);
}

TEST_F(ColdReadsTest, AFailedReadMakesTheRecordUnreadableForThisTime) {
  const LogPosition position = put("on a bad block");
  {
    const ColdRead read = reads_->start_ahead(position);
    EXPECT_EQ(reads_->need(read, &waiter_), State::kReading);
    reader_.fail(0, EIO);
    EXPECT_EQ(waiter_.calls, 1);
    EXPECT_EQ(reads_->need(read, nullptr), State::kUnreadable);
  }
  EXPECT_EQ(log_.log->damage().failed_reads, 1u);
  EXPECT_EQ(log_.log->damage().records, 0u);
  const ColdRead read = reads_->start_ahead(position);
  reader_.complete_all();
  EXPECT_EQ(reads_->need(read, nullptr), State::kReady);
}

TEST_F(ColdReadsTest, ADiskThatIsInterruptedForEverFails) {
  const ColdRead read = reads_->start_ahead(put("a"));
  int attempts = 0;
  for (; reader_.count() > 0; ++attempts) {
    ASSERT_LT(attempts, 1'000);
    reader_.fail(0, EAGAIN);
  }
  EXPECT_GT(attempts, 1);
  EXPECT_EQ(reads_->need(read, nullptr), State::kUnreadable);
}

TEST_F(ColdReadsTest, AReadThatIsGivenUpKeepsItsBufferUntilTheKernelIsDone) {
  const LogPosition position = put("a");
  std::vector<ColdRead> reads;
  for (std::uint32_t i = 0; i < ColdReads::kReadsMax; ++i) {
    reads.push_back(reads_->start_ahead(position));
    ASSERT_FALSE(reads.back().is_null());
  }
  EXPECT_TRUE(reads_->start_ahead(position).is_null());
  reads.clear();
  EXPECT_EQ(reads_->in_flight(), ColdReads::kReadsMax);
  EXPECT_TRUE(reads_->start_ahead(position).is_null()) << "a buffer that is written to";
  reader_.complete(7);
  EXPECT_FALSE(reads_->start_ahead(position).is_null());
}

TEST_F(ColdReadsTest, WhoHoldsNothingIsServedInTheOrderOfTheLine) {
  const LogPosition position = put("a");
  std::vector<ColdRead> reads;
  for (std::uint32_t i = 0; i < ColdReads::kReadsMax; ++i) {
    reads.push_back(reads_->start_ahead(position));
  }
  CountingWaiter second;
  EXPECT_TRUE(reads_->start(position, waiter_).is_null());
  EXPECT_TRUE(reads_->start(position, second).is_null());
  reader_.complete_all();
  reads.pop_back();
  EXPECT_GT(waiter_.calls, 0);
  EXPECT_TRUE(reads_->start_ahead(position).is_null()) << "past the line";
  EXPECT_TRUE(reads_->start(position, second).is_null()) << "past the first";
  EXPECT_EQ(second.calls, 0);
  const ColdRead first_read = reads_->start(position, waiter_);
  EXPECT_FALSE(first_read.is_null());
  reads.pop_back();
  EXPECT_GT(second.calls, 0);
  EXPECT_FALSE(reads_->start(position, second).is_null());
}

TEST_F(ColdReadsTest, WhoLeavesTheLineLetsTheNextOneKnow) {
  const LogPosition position = put("a");
  std::vector<ColdRead> reads;
  for (std::uint32_t i = 0; i < ColdReads::kReadsMax; ++i) {
    reads.push_back(reads_->start_ahead(position));
  }
  CountingWaiter second;
  EXPECT_TRUE(reads_->start(position, waiter_).is_null());
  EXPECT_TRUE(reads_->start(position, second).is_null());
  reader_.complete_all();
  reads.pop_back();
  reads_->leave_line(waiter_);
  EXPECT_GT(second.calls, 0);
  EXPECT_FALSE(reads_->start(position, second).is_null());
}

class LongColdReadsTest : public ColdReadsTest {
 protected:
  LongColdReadsTest() : ColdReadsTest(16 * kMiB) {}
};

TEST_F(LongColdReadsTest, LongRecordsWaitForMemoryAndAllComeToTheirEnd) {
  const std::string text(3 * kMiB, 'z');
  std::vector<LogPosition> positions;
  for (int i = 0; i < 5; ++i) positions.push_back(put(text));
  std::vector<ColdRead> reads;
  for (const LogPosition position : positions) reads.push_back(reads_->start_ahead(position));
  reader_.complete_all();
  for (const ColdRead& read : reads) EXPECT_EQ(reads_->need(read, &waiter_), State::kReading);
  EXPECT_LE(reader_.bytes(), ColdReads::kLongBytesMax);
  EXPECT_EQ(reader_.count(), 2u);
  for (ColdRead& read : reads) {
    reader_.complete_all();
    ASSERT_EQ(reads_->need(read, nullptr), State::kReady);
    EXPECT_EQ(payload(read), text);
    read.reset();
  }
}

TEST_F(LongColdReadsTest, OneRecordOfAnyLengthIsReadThoughItExceedsTheBound) {
  const std::string text(12 * kMiB, 'z');
  const ColdRead read = reads_->start_ahead(put(text));
  while (reads_->need(read, nullptr) == State::kReading) reader_.complete_all();
  ASSERT_EQ(reads_->need(read, nullptr), State::kReady);
  EXPECT_EQ(payload(read).size(), text.size());
}

TEST_F(LongColdReadsTest, WhoGivesUpWaitingForMemoryIsForgotten) {
  const std::string text(7 * kMiB, 'z');
  ColdRead first = reads_->start_ahead(put(text));
  ColdRead second = reads_->start_ahead(put(text));
  reader_.complete_all();
  EXPECT_EQ(reads_->need(first, nullptr), State::kReading);
  EXPECT_EQ(reads_->need(second, nullptr), State::kReading);
  second.reset();
  reader_.complete_all();
  EXPECT_EQ(reads_->need(first, nullptr), State::kReady);
  first.reset();
  EXPECT_EQ(reader_.count(), 0u);
}

}  // namespace
}  // namespace gyre::storage

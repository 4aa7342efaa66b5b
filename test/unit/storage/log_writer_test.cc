// The event log with a real writer thread on the kernel's file system.
#include <stdlib.h>

#include <atomic>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/random.h"
#include "gyre/storage/event_log.h"
#include "unit/storage/log_harness.h"

namespace gyre::storage {
namespace {

class LogWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = (std::filesystem::temp_directory_path() / "gyre-log-XXXXXX").string();
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override {
    log_.reset();
    std::filesystem::remove_all(folder_);
  }

  void open(const LogOptions& options) {
    log_.reset();
    replayed_.clear();
    LogRecovery recovery;
    auto log = EventLog::open(
        posix_file_system(), folder_, options, random_, {},
        [&](const LogRecord& record) {
          replayed_.emplace_back(as_text(record.payload));
          return absl::OkStatus();
        },
        recovery);
    ASSERT_TRUE(log.ok()) << log.status().ToString();
    log_ = *std::move(log);
  }
  void start_thread() {
    log_->start_writer_thread([this] {
      progress_.fetch_add(1);
      progress_.notify_one();
    });
  }
  // Waits for the writer, as a shard's loop would.
  void wait_for_progress() {
    const std::uint64_t seen = progress_.load();
    log_->take_completions();
    log_->start_commit();
    if (log_->is_commit_in_flight() && progress_.load() == seen) progress_.wait(seen);
    log_->take_completions();
  }
  void append(const std::string& payload) {
    while (!log_->has_room(payload.size())) wait_for_progress();
    const ByteSpan part = as_bytes(payload);
    positions_.push_back(log_->append(RecordType::kEvent, {&part, 1}));
  }

  std::string folder_;
  SystemRandom random_;
  std::atomic<std::uint64_t> progress_{0};
  std::vector<std::string> replayed_;
  std::vector<LogPosition> positions_;
  std::unique_ptr<EventLog> log_;
};

LogOptions options_of(Durability durability) {
  LogOptions options;
  options.segment_bytes = 1 << 20;
  options.reserve_bytes = 128 << 10;
  options.tail_bytes_max = 256 << 10;
  options.durability = durability;
  return options;
}

TEST_F(LogWriterTest, RecordsAreWrittenReadAndRecoveredWhileTheThreadWorks) {
  open(options_of(Durability::kOs));
  start_thread();
  constexpr std::uint64_t kCount = 12'000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    append(payload_of(i));
    if (i % 16 == 0) {
      log_->take_completions();
      log_->start_commit();
    }
    const std::uint64_t probe = i / 2;
    ASSERT_EQ(as_text(log_->read(positions_[probe])), payload_of(probe));
  }
  EXPECT_GT(log_->appended().segment(), 1u);
  ASSERT_TRUE(log_->close().ok());
  EXPECT_EQ(log_->durable(), log_->appended());
  open(options_of(Durability::kOs));
  ASSERT_EQ(replayed_.size(), kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(replayed_[i], payload_of(i));
}

TEST_F(LogWriterTest, EverythingBecomesDurableWithoutClosing) {
  open(options_of(Durability::kFsync));
  start_thread();
  for (int i = 0; i < 200; ++i) {
    append(payload_of(static_cast<std::uint64_t>(i)));
    if (i % 20 == 0) wait_for_progress();
  }
  while (log_->durable() < log_->appended()) wait_for_progress();
  EXPECT_EQ(log_->acknowledged(), log_->appended());
  open(options_of(Durability::kFsync));
  EXPECT_EQ(replayed_.size(), 200u);
}

TEST_F(LogWriterTest, ALogMayEndWithItsThreadAtWork) {
  open(options_of(Durability::kFsync));
  start_thread();
  append(payload_of(1));
  log_->start_commit();
  log_.reset();
  open(options_of(Durability::kFsync));
  EXPECT_EQ(replayed_.size(), 1u) << "a commit that was handed over is done";
}

TEST_F(LogWriterTest, WorkHandedOverBeforeTheThreadStartsIsDone) {
  open(options_of(Durability::kFsync));
  append(payload_of(1));
  log_->start_commit();
  start_thread();
  while (log_->durable() < log_->appended()) wait_for_progress();
  EXPECT_EQ(as_text(log_->read(positions_[0])), payload_of(1));
}

}  // namespace
}  // namespace gyre::storage

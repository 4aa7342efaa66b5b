#include "storage/resident_window.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "gyre/base/ids.h"
#include "log_harness.h"

namespace gyre::storage {
namespace {

// Notes what is populated; fails where the test says so.
class PopulatedFile final : public File {
 public:
  absl::Status write_at(std::uint64_t, std::span<const ByteSpan>) override { return unused(); }
  absl::Status read_at(std::uint64_t, std::span<std::uint8_t>) const override { return unused(); }
  absl::Status sync_data() override { return unused(); }
  absl::StatusOr<std::uint64_t> size() const override { return unused(); }
  absl::Status truncate(std::uint64_t) override { return unused(); }
  absl::Status allocate(std::uint64_t, std::uint64_t) override { return unused(); }
  absl::StatusOr<const std::uint8_t*> map(std::uint64_t) override { return unused(); }
  int descriptor() const override { return -1; }
  bool populate(std::uint64_t offset, std::uint64_t bytes) const override {
    if (offset < bad_until) return false;
    lowest = std::min(lowest, offset);
    highest = std::max(highest, offset + bytes);
    return true;
  }

  std::uint64_t bad_until = 0;
  mutable std::uint64_t lowest = UINT64_MAX;
  mutable std::uint64_t highest = 0;

 private:
  static absl::Status unused() { return absl::UnimplementedError("a test that reads no bytes"); }
};

// Three segments, of which the last grows.
class ResidentWindowTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kSegmentBytes = 10 * 1024 * 1024;

  void fill(ResidentWindow& window, std::uint32_t last_bytes) {
    for (std::uint32_t number = 1; number <= 3; ++number) {
      files_.push_back(std::make_shared<PopulatedFile>());
      window.add(number, files_.back(), number < 3 ? kSegmentBytes : 0);
    }
    window.set_end(LogPosition::at(3, last_bytes));
  }
  bool keep(ResidentWindow& window) {
    const bool is_done = window.keep_in_memory(never_);
    window.set_end(end_of_log_);
    return is_done;
  }

  std::vector<std::shared_ptr<PopulatedFile>> files_;
  LogPosition end_of_log_ = LogPosition::at(3, 1000);
  const std::atomic<bool> never_{false};
};

TEST_F(ResidentWindowTest, HoldsAllOfALogThatFits) {
  ResidentWindow window(UINT64_MAX);
  fill(window, 1000);
  EXPECT_TRUE(window.contains(LogPosition::at(1, 64)));
}

TEST_F(ResidentWindowTest, IsTheEndOfALogThatDoesNotFit) {
  ResidentWindow window(1000 + 5000);
  fill(window, 1000);
  EXPECT_FALSE(window.contains(LogPosition::at(2, kSegmentBytes - 5008)));
  EXPECT_TRUE(window.contains(LogPosition::at(2, kSegmentBytes - 5000)));
  EXPECT_TRUE(window.contains(LogPosition::at(3, 64)));
}

TEST_F(ResidentWindowTest, OfNoBytesHoldsWhatIsNotWrittenYet) {
  ResidentWindow window(0);
  fill(window, 1000);
  EXPECT_FALSE(window.contains(LogPosition::at(3, 992)));
  EXPECT_TRUE(window.contains(LogPosition::at(3, 1000)));
}

TEST_F(ResidentWindowTest, MovesWithTheEndAndOverSegments) {
  ResidentWindow window(kSegmentBytes);
  fill(window, 1000);
  EXPECT_TRUE(window.contains(LogPosition::at(2, 1000)));
  window.seal(kSegmentBytes);
  window.add(4, std::make_shared<PopulatedFile>(), 0);
  EXPECT_TRUE(window.contains(LogPosition::at(2, 1000))) << "the writer is not there yet";
  window.set_end(LogPosition::at(3, kSegmentBytes));
  EXPECT_FALSE(window.contains(LogPosition::at(2, kSegmentBytes - 8)));
  EXPECT_TRUE(window.contains(LogPosition::at(3, 64)));
  window.set_end(LogPosition::at(4, 2000));
  EXPECT_FALSE(window.contains(LogPosition::at(3, 1992)));
  EXPECT_TRUE(window.contains(LogPosition::at(3, 2000)));
}

TEST_F(ResidentWindowTest, CanShrinkBeforeItIsPopulated) {
  ResidentWindow window(UINT64_MAX);
  fill(window, 1000);
  window.set_bytes_max(1000);
  window.set_end(end_of_log_);
  EXPECT_FALSE(window.contains(LogPosition::at(2, kSegmentBytes - 8)));
  EXPECT_TRUE(window.contains(LogPosition::at(3, 64)));
}

TEST_F(ResidentWindowTest, HoldsNothingOldBeforeTheKeeperHasBroughtItIn) {
  ResidentWindow window(kSegmentBytes);
  fill(window, 1000);
  window.expect_keeper();
  EXPECT_FALSE(window.contains(LogPosition::at(3, 64)));
  EXPECT_TRUE(window.contains(LogPosition::at(3, 1000)));
  EXPECT_TRUE(keep(window));
  EXPECT_TRUE(window.contains(LogPosition::at(2, 1000)));
  EXPECT_FALSE(window.contains(LogPosition::at(2, 992)));
  EXPECT_EQ(files_[0]->highest, 0u);
  EXPECT_EQ(files_[1]->lowest, 1000u);
  EXPECT_EQ(files_[1]->highest, kSegmentBytes);
  EXPECT_EQ(files_[2]->lowest, 0u);
  EXPECT_EQ(files_[2]->highest, 1000u);
}

TEST_F(ResidentWindowTest, EndsWhereTheDiskGivesNoMore) {
  ResidentWindow window(UINT64_MAX);
  fill(window, 1000);
  files_[1]->bad_until = 100;
  window.expect_keeper();
  EXPECT_FALSE(keep(window));
  EXPECT_TRUE(window.contains(LogPosition::at(2, kSegmentBytes - 8)));
  EXPECT_FALSE(window.contains(LogPosition::at(2, 96)));
  EXPECT_FALSE(window.contains(LogPosition::at(1, 64)));
}

TEST_F(ResidentWindowTest, StopsWhenItIsTold) {
  ResidentWindow window(UINT64_MAX);
  fill(window, 1000);
  window.expect_keeper();
  const std::atomic<bool> now{true};
  EXPECT_FALSE(window.keep_in_memory(now));
  EXPECT_EQ(files_[2]->highest, 0u);
}

// Positions in a compacted segment are not places in its file.
TEST_F(ResidentWindowTest, ACompactedSegmentCountsOnlyAsAWhole) {
  ResidentWindow window(1000 + kSegmentBytes + 5000);
  fill(window, 1000);
  EXPECT_TRUE(window.contains(LogPosition::at(1, kSegmentBytes - 4000)));
  const auto file = std::make_shared<PopulatedFile>();
  window.replace_compacted(1, file, 9000, 9100);
  window.set_end(LogPosition::at(3, 1008));
  EXPECT_FALSE(window.contains(LogPosition::at(1, kSegmentBytes - 8)));
  EXPECT_TRUE(window.contains(LogPosition::at(2, 64)));
  window.replace_compacted(2, std::make_shared<PopulatedFile>(), 100, 200);
  window.set_end(LogPosition::at(3, 1016));
  EXPECT_TRUE(window.contains(LogPosition::at(2, 64)));
}

TEST_F(ResidentWindowTest, TablesOfCompactedSegmentsAreKeptWhereverTheWindowBegins) {
  ResidentWindow window(500);
  fill(window, 1000);
  const auto first = std::make_shared<PopulatedFile>();
  const auto again = std::make_shared<PopulatedFile>();
  window.replace_compacted(1, first, 9000, 9100);
  window.expect_keeper();
  EXPECT_TRUE(keep(window));
  EXPECT_EQ(first->lowest, 9000u);
  EXPECT_EQ(first->highest, 9100u);
  window.replace_compacted(1, again, 700, 800);
  EXPECT_TRUE(keep(window));
  EXPECT_EQ(again->lowest, 700u);
  window.replace_compacted(1, nullptr, 64, 64);
  EXPECT_TRUE(keep(window));
}

}  // namespace
}  // namespace gyre::storage

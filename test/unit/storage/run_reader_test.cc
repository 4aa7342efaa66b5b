#include "storage/run_reader.h"

#include <gtest/gtest.h>

#include "storage/posting_run_writer.h"
#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

constexpr char kPath[] = "shard/run";

// Enough for more than one window of the block index.
constexpr std::uint64_t kPostings = 400'000;

RunPosting posting_of(std::uint64_t number) {
  return {(number / 3) * 0x1234'5678'9abc, 2'000'000'000 - number % 3,
          static_cast<Sequence>(number * 7919 % kPostings)};
}

class RunReaderTest : public testing::Test {
 protected:
  RunReaderTest() {
    EXPECT_TRUE(files_.create_directories("shard").ok());
    auto writer = PostingRunWriter::create(files_, "shard", "run", {kPostings, kPostings});
    EXPECT_TRUE(writer.ok());
    for (std::uint64_t i = 0; i < kPostings; ++i) {
      const RunPosting posting = posting_of(i);
      (*writer)->add(posting.term, posting.created_at, posting.sequence);
    }
    EXPECT_TRUE((*writer)->finish().ok());
    content_ = files_.contents().at(kPath);
  }

  // Reads on to the end or to an error.
  absl::Status read_all(std::uint64_t& count) {
    count = 0;
    auto reader = RunReader::open(files_, "shard", "run");
    if (!reader.ok()) return reader.status();
    for (; !(*reader)->is_at_end(); (*reader)->advance(), ++count) {
      const RunPosting& found = (*reader)->posting();
      const RunPosting expected = posting_of(count);
      if (found.term != expected.term || found.created_at != expected.created_at ||
          found.sequence != expected.sequence) {
        return absl::InternalError("another posting");
      }
    }
    return (*reader)->status();
  }

  test::SimFileSystem files_;
  std::vector<std::uint8_t> content_;
};

TEST_F(RunReaderTest, GivesEveryPostingInOrder) {
  std::uint64_t count = 0;
  const absl::Status status = read_all(count);
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(count, kPostings);
}

TEST_F(RunReaderTest, DamageAnywhereButInTheFenceIsAnErrorThatNamesTheFile) {
  RunFooter footer;
  std::memcpy(&footer, content_.data() + content_.size() - sizeof footer, sizeof footer);
  for (std::uint64_t offset = sizeof(RunHeader); offset < content_.size(); offset += 40'009) {
    const bool is_read = offset < footer.blocks_end || offset >= footer.index_offset;
    if (!is_read) continue;
    std::vector<std::uint8_t> damaged = content_;
    damaged[offset] ^= 0x20;
    files_.overwrite(kPath, damaged);
    std::uint64_t count = 0;
    const absl::Status status = read_all(count);
    EXPECT_TRUE(absl::IsDataLoss(status)) << offset << ": " << status;
    EXPECT_NE(status.message().find(kPath), absl::string_view::npos);
  }
}

TEST_F(RunReaderTest, AShorterFileIsAnError) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{90}, content_.size() - 1}) {
    files_.overwrite(kPath, {content_.begin(), content_.begin() + static_cast<long>(bytes)});
    std::uint64_t count = 0;
    EXPECT_TRUE(absl::IsDataLoss(read_all(count))) << bytes;
  }
}

}  // namespace
}  // namespace gyre::storage

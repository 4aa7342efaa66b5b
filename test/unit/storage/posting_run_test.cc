#include "storage/posting_run.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "gyre/base/random.h"
#include "storage/posting_run_writer.h"
#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

constexpr char kFolder[] = "store";
constexpr char kName[] = "run-1";
constexpr char kPath[] = "store/run-1";

bool is_ordered(const RunPosting& left, const RunPosting& right) {
  if (left.term != right.term) return left.term < right.term;
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  return left.sequence < right.sequence;
}

// Rare and frequent terms, ties, and times at both ends of what there can be.
std::vector<RunPosting> random_postings(std::uint64_t seed, std::size_t count) {
  SeededRandom random(seed);
  std::vector<Term> hot = {0, UINT64_MAX, random.next_u64(), random.next_u64()};
  std::vector<RunPosting> postings(count);
  for (std::size_t i = 0; i < count; ++i) {
    RunPosting& posting = postings[i];
    const std::uint64_t choice = random.next_u64();
    posting.term = choice % 4 == 0 ? random.next_u64() : hot[choice / 4 % hot.size()];
    posting.created_at = 1'700'000'000 + random.next_u64() % (choice % 3 == 0 ? 10 : 10'000'000);
    if (choice % 53 == 0) posting.created_at = random.next_u64();
    if (choice % 101 == 0) posting.created_at = choice % 2 == 0 ? 0 : UINT64_MAX;
    posting.sequence = static_cast<Sequence>(choice % 7 == 0 ? choice % kSequenceMax : i);
  }
  std::sort(postings.begin(), postings.end(), is_ordered);
  return postings;
}

class PostingRunTest : public ::testing::Test {
 protected:
  PostingRunTest() { EXPECT_TRUE(files_.create_directories(kFolder).ok()); }

  absl::Status write(const std::vector<RunPosting>& postings) {
    std::set<Term> terms;
    for (const RunPosting& posting : postings) terms.insert(posting.term);
    const auto tombstones = std::count_if(terms.begin(), terms.end(), is_tombstone);
    auto writer = PostingRunWriter::create(files_, kFolder, kName,
                                           {terms.size(), static_cast<std::uint64_t>(tombstones)});
    if (!writer.ok()) return writer.status();
    for (const RunPosting& posting : postings) {
      (*writer)->add(posting.term, posting.created_at, posting.sequence);
    }
    return (*writer)->finish();
  }
  std::unique_ptr<PostingRun> open() {
    auto run = PostingRun::open(files_, kFolder, kName);
    EXPECT_TRUE(run.ok()) << run.status();
    return run.ok() ? *std::move(run) : nullptr;
  }
  static std::vector<RunPosting> read_all(const PostingRun& run) {
    std::vector<RunPosting> postings;
    for (std::uint32_t block = 0; block < run.block_count(); ++block) {
      run.append_block(block, postings);
    }
    return postings;
  }

  test::SimFileSystem files_;
};

bool may_have(const PostingRun& run, Term term) {
  const TermFence& fence = is_tombstone(term) ? run.tombstone_fence() : run.fence();
  return fence.may_have(FenceKey(term));
}

bool are_equal(const std::vector<RunPosting>& left, const std::vector<RunPosting>& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const RunPosting& a, const RunPosting& b) {
                      return a.term == b.term && a.created_at == b.created_at &&
                             a.sequence == b.sequence;
                    });
}

TEST_F(PostingRunTest, GivesBackWhatWasWritten) {
  const std::vector<RunPosting> postings = random_postings(1, 20'000);
  ASSERT_TRUE(write(postings).ok());
  const auto run = open();
  EXPECT_EQ(run->posting_count(), postings.size());
  EXPECT_TRUE(are_equal(read_all(*run), postings));
}

TEST_F(PostingRunTest, SeeksAndCountsLikeASortedVector) {
  const std::vector<RunPosting> postings = random_postings(2, 8000);
  ASSERT_TRUE(write(postings).ok());
  const auto run = open();
  SeededRandom random(3);
  for (int i = 0; i < 3000; ++i) {
    const RunPosting& near = postings[random.next_u64() % postings.size()];
    const Term term = near.term + (i % 5 == 0 ? 1 : 0);
    const std::uint64_t until =
        i % 7 == 0 ? UINT64_MAX : near.created_at + random.next_u64() % 3 - 1;
    const auto expected =
        std::find_if(postings.begin(), postings.end(), [&](const RunPosting& posting) {
          return posting.term == term && posting.created_at <= until;
        });
    PostingRun::Position position;
    ASSERT_EQ(run->seek(term, until, position), expected != postings.end());
    if (expected != postings.end()) {
      const PostingRun::Value value = run->at(position);
      ASSERT_EQ(value.created_at, expected->created_at);
      ASSERT_EQ(value.sequence, expected->sequence);
    }
    const std::uint64_t since = i % 11 == 0 ? 0 : until - random.next_u64() % 5'000'000;
    const auto count = std::count_if(postings.begin(), postings.end(), [&](const RunPosting& each) {
      return each.term == term && each.created_at >= since && each.created_at <= until;
    });
    ASSERT_EQ(run->count({term, since, until}), static_cast<std::uint64_t>(count));
    // An estimate may miss the two outer blocks.
    const std::uint64_t estimate = run->estimate({term, since, until});
    ASSERT_LE(estimate, static_cast<std::uint64_t>(count));
    ASSERT_GE(estimate + 2 * kRunBlockPostingsMax, static_cast<std::uint64_t>(count));
  }
}

TEST_F(PostingRunTest, WalksEveryTermFromItsFirstPostingToItsLast) {
  const std::vector<RunPosting> postings = random_postings(8, 20'000);
  ASSERT_TRUE(write(postings).ok());
  const auto run = open();
  ASSERT_GT(run->block_count(), 10u);
  for (std::size_t i = 0; i < postings.size();) {
    const Term term = postings[i].term;
    ASSERT_TRUE(may_have(*run, term));
    PostingRun::Position position;
    ASSERT_TRUE(run->seek(term, UINT64_MAX, position));
    do {
      ASSERT_LT(i, postings.size());
      ASSERT_EQ(postings[i].term, term);
      ASSERT_EQ(run->at(position).created_at, postings[i].created_at);
      ASSERT_EQ(run->at(position).sequence, postings[i].sequence);
      ++i;
    } while (run->advance(term, position));
  }
}

TEST_F(PostingRunTest, SpendsFewBytesOnEvenlySpacedPostings) {
  // What a busy kind looks like: an event a second, nearly in the order of arrival.
  std::vector<RunPosting> postings;
  for (Sequence i = 0; i < 100'000; ++i) postings.push_back({5, 2'000'000'000 - i, 500'000 - i});
  ASSERT_TRUE(write(postings).ok());
  EXPECT_LT(open()->bytes(), 3 * postings.size());
}

TEST_F(PostingRunTest, EstimatesRareTermsExactly) {
  std::vector<RunPosting> postings;
  for (Term term = 1; term <= 2000; ++term) {
    for (Sequence i = 0; i < 5; ++i) postings.push_back({term << 40, 100 - i, i});
  }
  ASSERT_TRUE(write(postings).ok());
  const auto run = open();
  for (Term term = 1; term <= 2000; ++term) {
    ASSERT_EQ(run->estimate({term << 40}), 5u);
    ASSERT_EQ(run->estimate({term << 40, 97, 98}), 2u);
  }
  EXPECT_EQ(run->estimate({7}), 0u);
}

TEST_F(PostingRunTest, AsksOneFenceForTombstonesAndOneForTheRest) {
  SeededRandom random(9);
  std::vector<RunPosting> postings;
  for (int i = 0; i < 20'000; ++i) {
    const Term term = random.next_u64() & ~kTombstoneBit;
    postings.push_back({i % 20 == 0 ? term | kTombstoneBit : term, 1, 1});
  }
  std::sort(postings.begin(), postings.end(), is_ordered);
  ASSERT_TRUE(write(postings).ok());
  const auto run = open();
  for (const RunPosting& posting : postings) ASSERT_TRUE(may_have(*run, posting.term));
  int passed = 0;
  int tombstones_passed = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Term term = random.next_u64() & ~kTombstoneBit;
    passed += may_have(*run, term) ? 1 : 0;
    tombstones_passed += may_have(*run, term | kTombstoneBit) ? 1 : 0;
  }
  EXPECT_LT(passed, 400);
  EXPECT_LT(tombstones_passed, 400);
}

TEST_F(PostingRunTest, OfNothingIsAFileLikeAnyOther) {
  ASSERT_TRUE(write({}).ok());
  const auto run = open();
  EXPECT_EQ(run->posting_count(), 0u);
  EXPECT_TRUE(read_all(*run).empty());
  PostingRun::Position position;
  EXPECT_FALSE(run->seek(1, UINT64_MAX, position));
  EXPECT_EQ(run->count({1}), 0u);
  EXPECT_EQ(run->estimate({1}), 0u);
}

TEST_F(PostingRunTest, TakesTheExtremesOfEveryNumber) {
  const std::vector<RunPosting> postings = {{0, UINT64_MAX, kSequenceMax},
                                            {0, 0, 0},
                                            {1, UINT64_MAX, kSequenceMax},
                                            {UINT64_MAX, UINT64_MAX, 0},
                                            {UINT64_MAX, UINT64_MAX / 2, kSequenceMax},
                                            {UINT64_MAX, 0, 1}};
  ASSERT_TRUE(write(postings).ok());
  const auto run = open();
  EXPECT_TRUE(are_equal(read_all(*run), postings));
  EXPECT_EQ(run->count({UINT64_MAX}), 3u);
  EXPECT_EQ(run->count({UINT64_MAX, 1, UINT64_MAX}), 2u);
  EXPECT_EQ(run->count({UINT64_MAX, 0, 0}), 1u);
  EXPECT_EQ(run->estimate({UINT64_MAX}), 3u);
  EXPECT_EQ(run->count({0, 0, 0}), 1u);
}

TEST_F(PostingRunTest, ReplacesWhatACrashLeftUnderItsName) {
  files_.overwrite(kPath, std::vector<std::uint8_t>(100'000, 0xee));
  const std::vector<RunPosting> postings = random_postings(4, 100);
  ASSERT_TRUE(write(postings).ok());
  EXPECT_TRUE(are_equal(read_all(*open()), postings));
}

TEST_F(PostingRunTest, TellsThatTheDiskIsFullOrBroken) {
  using Sim = test::SimFileSystem;
  const std::vector<RunPosting> postings = random_postings(5, 200'000);
  files_.fail(Sim::Operation::kWrite, 0, Sim::Fault::kNoSpace);
  EXPECT_EQ(write(postings).code(), absl::StatusCode::kResourceExhausted);
  files_.fail(Sim::Operation::kSync, 0, Sim::Fault::kIoError);
  EXPECT_FALSE(write(postings).ok());
  files_.fail(Sim::Operation::kSyncDirectory, 0, Sim::Fault::kIoError);
  EXPECT_FALSE(write(postings).ok());
  EXPECT_TRUE(write(postings).ok());
}

void make_resident(PostingRun& run) {
  std::uint64_t budget = UINT64_MAX;
  Residence residence;
  (void)run.keep_resident(budget, residence);
}

TEST_F(PostingRunTest, ComesIntoMemoryInSlices) {
  ASSERT_TRUE(write(random_postings(8, 500)).ok());
  const auto run = PostingRun::open(files_, kFolder, kName);
  ASSERT_TRUE(run.ok());
  Residence residence;
  int slices = 0;
  for (bool is_done = false; !is_done; ++slices) {
    std::uint64_t budget = 1000;
    is_done = (*run)->keep_resident(budget, residence);
  }
  EXPECT_EQ(residence.bytes, (*run)->bytes());
  EXPECT_EQ(residence.unlocked_bytes, 0u);
  EXPECT_EQ(static_cast<std::uint64_t>(slices), ((*run)->bytes() + 999) / 1000);
}

using PostingRunDeathTest = PostingRunTest;

TEST_F(PostingRunDeathTest, NoticesEveryChangedByteOrIsNotHarmed) {
  const std::vector<RunPosting> postings = random_postings(6, 60);
  ASSERT_TRUE(write(postings).ok());
  const std::vector<std::uint8_t> content = files_.contents().at(kPath);
  RunFooter footer;
  std::memcpy(&footer, content.data() + content.size() - sizeof footer, sizeof footer);
  int opened = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    std::vector<std::uint8_t> damaged = content;
    damaged[i] ^= static_cast<std::uint8_t>(1 << i % 8);
    files_.overwrite(kPath, damaged);
    const auto run = PostingRun::open(files_, kFolder, kName);
    const bool is_block = i >= sizeof(RunHeader) && i < footer.blocks_end;
    const bool is_padding = i >= footer.blocks_end && i < footer.fence_offset;
    const bool is_fence = i >= footer.fence_offset && i < footer.index_offset;
    ASSERT_EQ(run.ok(), is_block || is_padding || is_fence) << i;
    if (!run.ok()) {
      ASSERT_EQ(run.status().code(), absl::StatusCode::kDataLoss);
      ASSERT_THAT(std::string(run.status().message()), ::testing::HasSubstr("gyre check --repair"));
      continue;
    }
    ++opened;
    if (is_padding) {
      ASSERT_TRUE(are_equal(read_all(**run), postings)) << i;
    } else if (is_fence && i % 8 == 0) {  // Each of these forks.
      ASSERT_EXIT(make_resident(**run), ::testing::ExitedWithCode(1), "run-1: the fence");
    } else if (is_block && i % 8 == 0) {
      ASSERT_EXIT(read_all(**run), ::testing::ExitedWithCode(1),
                  "store/run-1.*gyre check --repair");
    }
  }
  EXPECT_GT(opened, 0);
}

TEST_F(PostingRunTest, RefusesEveryShortenedFile) {
  ASSERT_TRUE(write(random_postings(7, 60)).ok());
  const std::vector<std::uint8_t> content = files_.contents().at(kPath);
  for (std::size_t bytes = 0; bytes < content.size(); ++bytes) {
    files_.overwrite(kPath,
                     {content.begin(), content.begin() + static_cast<std::ptrdiff_t>(bytes)});
    ASSERT_EQ(PostingRun::open(files_, kFolder, kName).status().code(), absl::StatusCode::kDataLoss)
        << bytes;
  }
}

TEST_F(PostingRunTest, IsNotFoundWhereItIsNot) {
  EXPECT_FALSE(PostingRun::open(files_, kFolder, "run-7").ok());
}

}  // namespace
}  // namespace gyre::storage

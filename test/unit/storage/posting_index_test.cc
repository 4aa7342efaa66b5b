#include "gyre/storage/posting_index.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/random.h"
#include "storage/posting_order.h"
#include "support/sim_file_system.h"
#include "unit/storage/merge_runs.h"

namespace gyre::storage {
namespace {

// An index and its directory, and all postings in a vector.
class PostingIndexTest : public ::testing::Test {
 protected:
  static constexpr char kFolder[] = "store";

  PostingIndexTest() {
    EXPECT_TRUE(files_.create_directories(kFolder).ok());
    open(0);
  }

  void open(Sequence rows) {
    index_.reset();
    directory_ = *Directory::open(files_, "store/directory", rows);
    auto index =
        PostingIndex::open(files_, kFolder, run_names_, *directory_, {.table_postings_max = 1000});
    ASSERT_TRUE(index.ok()) << index.status();
    index_ = *std::move(index);
  }

  // An event under some of ten terms; ties of time are frequent, and of id prefixes too.
  void add_event() {
    const std::uint64_t created_at = random_.next_u64() % 300;
    const std::uint64_t id_prefix = random_.next_u64() % 50;
    const Sequence sequence =
        directory_->append({.created_at = created_at, .id_prefix = id_prefix});
    for (Term term = 0; term < 10; ++term) {
      if (random_.next_u64() % (term + 1) != 0) continue;
      const Posting posting = {spread(term), created_at, id_prefix, sequence};
      index_->add(posting);
      all_.push_back(posting);
    }
  }
  void add_events(int count) {
    for (int i = 0; i < count; ++i) add_event();
  }
  static Term spread(Term term) { return term * 0x1999'9999'9999'9999; }

  void freeze() {
    index_->freeze();
    delta_ = &directory_->freeze();
  }
  void write_and_install() {
    run_names_.push_back("run-" + std::to_string(run_names_.size()));
    ASSERT_TRUE(index_->write_run(run_names_.back()).ok());
    ASSERT_TRUE(directory_->write(*delta_).ok());
    index_->install_run(run_names_.back());
    directory_->drop_frozen();
  }
  void checkpoint() {
    freeze();
    write_and_install();
  }

  // Merges what is worth it; the names of the runs that are gone.
  std::vector<std::string> merge(const std::string& name) {
    const std::vector<std::string> inputs = index_->choose_merge();
    if (inputs.empty()) return inputs;
    EXPECT_TRUE(merge_runs(files_, kFolder, inputs, name, *directory_, *index_).ok());
    index_->install_merged_run(inputs, name);
    run_names_ = index_->run_names();
    return inputs;
  }

  std::vector<Posting> expected(const PostingRange& range) const {
    std::vector<Posting> postings;
    for (const Posting& posting : all_) {
      if (posting.term == range.term && posting.created_at >= range.since &&
          posting.created_at <= range.until) {
        postings.push_back(posting);
      }
    }
    std::sort(postings.begin(), postings.end(), is_before<Posting, Posting>);
    return postings;
  }
  static std::vector<Sequence> sequences_of(const std::vector<Posting>& postings) {
    std::vector<Sequence> sequences;
    for (const Posting& posting : postings) sequences.push_back(posting.sequence);
    return sequences;
  }
  static std::vector<Sequence> walk(PostingCursor cursor) {
    std::vector<Sequence> sequences;
    for (; !cursor.is_at_end(); cursor.advance()) sequences.push_back(cursor.sequence());
    return sequences;
  }

  PostingRange random_range() {
    PostingRange range = {spread(random_.next_u64() % 11)};
    if (random_.next_u64() % 2 == 0) range.since = random_.next_u64() % 310;
    if (random_.next_u64() % 2 == 0) range.until = random_.next_u64() % 310;
    return range;
  }

  void compare_everything() {
    for (int i = 0; i < 60; ++i) {
      const PostingRange range = random_range();
      const std::vector<Posting> postings = expected(range);
      ASSERT_EQ(walk(index_->find(range)), sequences_of(postings));
      ASSERT_EQ(index_->count(range), postings.size());
      ASSERT_LE(index_->estimate(range), postings.size());
      const auto newest = index_->find_newest(range);
      ASSERT_EQ(newest.has_value(), !postings.empty());
      if (postings.empty()) continue;
      ASSERT_EQ(newest->sequence, postings.front().sequence);
      ASSERT_EQ(newest->created_at, postings.front().created_at);
      ASSERT_EQ(newest->id_prefix, postings.front().id_prefix);
      const std::size_t at = random_.next_u64() % postings.size();
      const PostingPlace place = {postings[at].created_at, postings[at].id_prefix,
                                  postings[at].sequence};
      const std::vector<Posting> rest(postings.begin() + static_cast<std::ptrdiff_t>(at) + 1,
                                      postings.end());
      ASSERT_EQ(walk(index_->find_behind(range, place)), sequences_of(rest));
    }
  }

  test::SimFileSystem files_;
  SeededRandom random_{11};
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<PostingIndex> index_;
  const DirectoryDelta* delta_ = nullptr;
  std::vector<std::string> run_names_;
  std::vector<Posting> all_;
};

TEST_F(PostingIndexTest, AgreesWithASortedVectorAtEveryStageOfACheckpoint) {
  add_events(200);
  compare_everything();
  freeze();
  compare_everything();
  add_events(200);
  compare_everything();
  write_and_install();
  compare_everything();
  for (int run = 0; run < 4; ++run) {
    add_events(700);
    checkpoint();
    add_events(100);
    compare_everything();
  }
  checkpoint();
  EXPECT_EQ(index_->run_names(), run_names_);
  EXPECT_EQ(index_->table_posting_count(), 0u);
  EXPECT_EQ(index_->run_posting_count(), all_.size());
  open(directory_->next_sequence());
  compare_everything();
}

TEST_F(PostingIndexTest, WantsToBeFrozenWhenTheTableIsFull) {
  while (index_->table_posting_count() < 1000) {
    EXPECT_FALSE(index_->wants_freeze());
    add_event();
  }
  EXPECT_TRUE(index_->wants_freeze());
  freeze();
  EXPECT_FALSE(index_->wants_freeze());
  EXPECT_TRUE(index_->has_frozen());
  write_and_install();
  EXPECT_FALSE(index_->has_frozen());
}

TEST_F(PostingIndexTest, ChangesItsVersionWithItsTablesAndRunsOnly) {
  const std::uint64_t first = index_->version();
  add_events(10);
  EXPECT_EQ(index_->version(), first);
  freeze();
  const std::uint64_t second = index_->version();
  EXPECT_NE(second, first);
  write_and_install();
  EXPECT_NE(index_->version(), second);
}

TEST_F(PostingIndexTest, LetsCursorsGoOnWhileItIsAddedTo) {
  add_events(300);
  checkpoint();
  add_events(300);
  const PostingRange range = {spread(1)};
  const std::vector<Sequence> before = sequences_of(expected(range));
  const Sequence snapshot = directory_->next_sequence();
  std::vector<Sequence> seen;
  for (PostingCursor cursor = index_->find(range); !cursor.is_at_end(); cursor.advance()) {
    if (cursor.sequence() < snapshot) seen.push_back(cursor.sequence());
    if (seen.size() % 3 == 0) add_events(7);
  }
  EXPECT_EQ(seen, before);
}

TEST_F(PostingIndexTest, GoesOnBehindAPlaceAfterEveryChange) {
  add_events(500);
  const PostingRange range = {spread(1), 20, 280};
  const std::vector<Sequence> before = sequences_of(expected(range));
  const Sequence snapshot = directory_->next_sequence();
  std::vector<Sequence> seen;
  PostingCursor cursor = index_->find(range);
  for (int step = 0; !cursor.is_at_end(); ++step) {
    const PostingPlace place = {cursor.created_at(), cursor.id_prefix(), cursor.sequence()};
    if (cursor.sequence() < snapshot) seen.push_back(cursor.sequence());
    if (step % 50 == 10) freeze();
    if (step % 50 == 30) write_and_install();
    if (step % 5 == 0) add_event();
    cursor = index_->find_behind(range, place);
  }
  EXPECT_EQ(seen, before);
}

TEST_F(PostingIndexTest, ReportsAWriteThatFailedAndWritesAgain) {
  add_events(50);
  freeze();
  files_.fail(test::SimFileSystem::Operation::kWrite, 0, test::SimFileSystem::Fault::kNoSpace);
  EXPECT_EQ(index_->write_run("run-0").code(), absl::StatusCode::kResourceExhausted);
  compare_everything();
  write_and_install();
  compare_everything();
}

TEST_F(PostingIndexTest, DoesNotOpenWithoutItsRuns) {
  run_names_ = {"run-9"};
  EXPECT_FALSE(PostingIndex::open(files_, kFolder, run_names_, *directory_, {}).ok());
}

TEST_F(PostingIndexTest, MergesRunsWithoutAnyoneNoticing) {
  for (int run = 0; run < 8; ++run) {
    EXPECT_TRUE(index_->choose_merge().empty());
    add_events(200);
    checkpoint();
  }
  add_events(100);
  const std::uint64_t version = index_->version();
  const std::uint64_t postings = index_->run_posting_count();
  EXPECT_EQ(merge("merged").size(), 8u);
  EXPECT_EQ(index_->run_names(), std::vector<std::string>{"merged"});
  EXPECT_EQ(index_->run_posting_count(), postings);
  EXPECT_NE(index_->version(), version);
  compare_everything();
  freeze();
  run_names_.push_back("run-last");
  ASSERT_TRUE(index_->write_run("run-last").ok());
  ASSERT_TRUE(directory_->write(*delta_).ok());
  index_->install_run("run-last");
  directory_->drop_frozen();
  for (const char* gone : {"store/run-0", "store/run-7"}) ASSERT_TRUE(files_.remove(gone).ok());
  compare_everything();
  open(directory_->next_sequence());
  compare_everything();
}

TEST_F(PostingIndexTest, KeepsItsRunsIfAMergeFails) {
  for (int run = 0; run < 8; ++run) {
    add_events(150);
    checkpoint();
  }
  const std::vector<std::string> inputs = index_->choose_merge();
  ASSERT_EQ(inputs.size(), 8u);
  files_.fail(test::SimFileSystem::Operation::kWrite, 0, test::SimFileSystem::Fault::kNoSpace);
  EXPECT_FALSE(merge_runs(files_, kFolder, inputs, "merged", *directory_, *index_).ok());
  EXPECT_EQ(index_->run_names(), run_names_);
  compare_everything();
  EXPECT_EQ(merge("merged"), inputs);
  compare_everything();
}

TEST_F(PostingIndexTest, FreesAWrittenTableWhileItIsAddedTo) {
  add_events(3000);
  checkpoint();
  add_events(3000);
  compare_everything();
  checkpoint();
  compare_everything();
}

TEST(PostingCursor, WithoutAnIndexIsAtItsEnd) {
  PostingCursor cursor;
  EXPECT_TRUE(cursor.is_at_end());
  PostingCursor moved = std::move(cursor);
  EXPECT_TRUE(moved.is_at_end());
}

}  // namespace
}  // namespace gyre::storage

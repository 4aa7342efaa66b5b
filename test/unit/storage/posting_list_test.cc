#include "storage/posting_list.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>
#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

std::vector<Sequence> walk(const PostingList& list, const PostingPlace& start) {
  std::vector<Sequence> sequences;
  PostingList::Position position;
  if (!list.seek(start, position)) return sequences;
  do {
    sequences.push_back(list.at(position).sequence);
  } while (list.advance(position));
  return sequences;
}

// The naive twin: a sorted vector.
class SortedEntries {
 public:
  void add(const PostingEntry& entry) {
    entries_.insert(std::upper_bound(entries_.begin(), entries_.end(), entry,
                                     is_before<PostingEntry, PostingEntry>),
                    entry);
  }
  std::vector<Sequence> walk(const PostingPlace& start) const {
    std::vector<Sequence> sequences;
    for (const PostingEntry& entry : entries_) {
      if (!is_before(entry, start)) sequences.push_back(entry.sequence);
    }
    return sequences;
  }
  std::size_t count(std::uint64_t since, std::uint64_t until) const {
    return static_cast<std::size_t>(
        std::count_if(entries_.begin(), entries_.end(), [=](const PostingEntry& entry) {
          return since <= entry.created_at && entry.created_at <= until;
        }));
  }
  const std::vector<PostingEntry>& entries() const { return entries_; }

 private:
  std::vector<PostingEntry> entries_;
};

void compare(const PostingList& list, const SortedEntries& twin, Random& random,
             std::uint64_t times) {
  ASSERT_EQ(walk(list, {UINT64_MAX, 0, 0}), twin.walk({UINT64_MAX, 0, 0}));
  for (int i = 0; i < 40; ++i) {
    const PostingPlace anywhere = {random.next_u64() % (times + 2), random.next_u64(), 0};
    ASSERT_EQ(walk(list, anywhere), twin.walk(anywhere));
    const PostingEntry& entry = twin.entries()[random.next_u64() % twin.entries().size()];
    const PostingPlace at = {entry.created_at, entry.id_prefix, entry.sequence};
    ASSERT_EQ(walk(list, at), twin.walk(at));
    const PostingPlace behind = {entry.created_at, entry.id_prefix, entry.sequence + 1};
    ASSERT_EQ(walk(list, behind), twin.walk(behind));
    const std::uint64_t since = random.next_u64() % (times + 2);
    const std::uint64_t until = i % 8 == 0 ? UINT64_MAX : random.next_u64() % (times + 2);
    ASSERT_EQ(list.count(since, until), twin.count(since, until)) << since << ' ' << until;
  }
}

// The number of different times decides whether ties are the rule or the exception.
class PostingListTest : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(PostingListTest, AgreesWithASortedVectorInRandomOrder) {
  SeededRandom random(GetParam());
  PostingList list;
  SortedEntries twin;
  for (Sequence sequence = 0; sequence < 1500; ++sequence) {
    const PostingEntry entry = {random.next_u64() % GetParam(), random.next_u64() % 1000, sequence,
                                0};
    list.add(entry);
    twin.add(entry);
    if (sequence % 100 == 99 || sequence < 3) compare(list, twin, random, GetParam());
  }
  EXPECT_EQ(list.size(), 1500u);
}

INSTANTIATE_TEST_SUITE_P(Times, PostingListTest, ::testing::Values(1, 10, 1000, 1'000'000));

TEST(PostingList, TakesEventsInTheOrderOfTime) {
  SeededRandom random(5);
  PostingList list;
  SortedEntries twin;
  for (Sequence sequence = 0; sequence < 1500; ++sequence) {
    const PostingEntry entry = {sequence / 3, random.next_u64(), sequence, 0};
    list.add(entry);
    twin.add(entry);
  }
  compare(list, twin, random, 500);
}

TEST(PostingList, TakesEventsInTheReverseOrderOfTime) {
  SeededRandom random(6);
  PostingList list;
  SortedEntries twin;
  for (Sequence sequence = 0; sequence < 1500; ++sequence) {
    const PostingEntry entry = {1500 - sequence, random.next_u64(), sequence, 0};
    list.add(entry);
    twin.add(entry);
  }
  compare(list, twin, random, 1500);
}

TEST(PostingList, OfNothingHasNothing) {
  const PostingList list;
  PostingList::Position position;
  EXPECT_FALSE(list.seek({UINT64_MAX, 0, 0}, position));
  EXPECT_EQ(list.count(0, UINT64_MAX), 0u);
}

TEST(PostingList, KnowsTheEdgesOfTime) {
  PostingList list;
  list.add({0, 7, 1, 0});
  list.add({UINT64_MAX, 7, 2, 0});
  EXPECT_EQ(list.count(0, UINT64_MAX), 2u);
  EXPECT_EQ(list.count(0, 0), 1u);
  EXPECT_EQ(list.count(UINT64_MAX, UINT64_MAX), 1u);
  EXPECT_EQ(list.count(1, UINT64_MAX - 1), 0u);
  EXPECT_EQ(list.count(2, 1), 0u);
}

}  // namespace
}  // namespace gyre::storage

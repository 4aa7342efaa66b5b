#include "storage/posting_table.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>
#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

std::vector<Posting> random_postings(std::uint64_t seed, std::size_t count) {
  SeededRandom random(seed);
  std::vector<Term> terms(count / 4);
  for (Term& term : terms) term = random.next_u64();
  std::vector<Posting> postings(count);
  for (std::size_t i = 0; i < count; ++i) {
    // A few terms have many postings, most have one or none.
    const bool is_hot = random.next_u64() % 2 == 0;
    const std::size_t term = random.next_u64() % (is_hot ? 3 : terms.size());
    postings[i] = {terms[term], random.next_u64() % 500, random.next_u64() % 100,
                   static_cast<Sequence>(i)};
  }
  return postings;
}

void sort(std::vector<Posting>& postings) {
  std::sort(postings.begin(), postings.end(), [](const Posting& left, const Posting& right) {
    if (left.term != right.term) return left.term < right.term;
    return is_before(left, right);
  });
}

TEST(PostingTable, VisitsEverythingInOrder) {
  std::vector<Posting> postings = random_postings(1, 5000);
  PostingTable table;
  table.add(postings);
  sort(postings);
  std::size_t at = 0;
  table.for_each_sorted([&](Term term, const PostingEntry& entry) {
    ASSERT_LT(at, postings.size());
    EXPECT_EQ(term, postings[at].term);
    EXPECT_EQ(entry.sequence, postings[at].sequence);
    ++at;
  });
  EXPECT_EQ(at, postings.size());
  EXPECT_EQ(table.posting_count(), postings.size());
}

TEST(PostingTable, SeeksAndCountsLikeASortedVector) {
  std::vector<Posting> postings = random_postings(2, 3000);
  PostingTable table;
  for (const Posting& posting : postings) table.add({&posting, 1});
  sort(postings);
  SeededRandom random(3);
  for (int i = 0; i < 500; ++i) {
    const Term term = postings[random.next_u64() % postings.size()].term;
    const PostingPlace start = {random.next_u64() % 500, random.next_u64() % 100, 0};
    const auto expected = std::find_if(
        postings.begin(), postings.end(),
        [&](const Posting& posting) { return posting.term == term && !is_before(posting, start); });
    PostingTable::Position position;
    const PostingEntry* entry = table.seek(term, start, position);
    if (expected == postings.end()) {
      ASSERT_EQ(entry, nullptr);
    } else {
      ASSERT_NE(entry, nullptr);
      ASSERT_EQ(entry->sequence, expected->sequence);
    }
    const PostingRange range = {term, random.next_u64() % 250, 250 + random.next_u64() % 250};
    const auto count = std::count_if(postings.begin(), postings.end(), [&](const Posting& posting) {
      return posting.term == term && posting.created_at >= range.since &&
             posting.created_at <= range.until;
    });
    ASSERT_EQ(table.count(range), static_cast<std::uint64_t>(count));
  }
}

TEST(PostingTable, DoesNotKnowOtherTerms) {
  PostingTable table;
  const Posting posting = {5, 10, 1, 0};
  table.add({&posting, 1});
  PostingTable::Position position;
  EXPECT_EQ(table.seek(6, {UINT64_MAX, 0, 0}, position), nullptr);
  EXPECT_EQ(table.count({6}), 0u);
  EXPECT_EQ(table.seek(5, {9, 0, 0}, position), nullptr);  // Newer than the start.
  ASSERT_NE(table.seek(5, {10, 0, 0}, position), nullptr);
  EXPECT_EQ(PostingTable::advance(position), nullptr);
}

TEST(PostingTable, IsFreedInSmallSteps) {
  PostingTable table;
  for (const Posting& posting : random_postings(4, 5000)) table.add({&posting, 1});
  int steps = 1;
  while (table.free_some()) ++steps;
  EXPECT_GT(steps, 100);
  EXPECT_EQ(table.terms().all, 0u);
}

}  // namespace
}  // namespace gyre::storage

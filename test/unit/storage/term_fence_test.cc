#include "storage/term_fence.h"

#include <gtest/gtest.h>
#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

TEST(TermFence, NeverDeniesWhatWasAdded) {
  SeededRandom random(1);
  std::vector<Term> terms(20'000);
  TermFenceBuilder builder(terms.size());
  for (Term& term : terms) builder.add(term = random.next_u64());
  const TermFence fence(builder.bytes());
  for (const Term term : terms) ASSERT_TRUE(fence.may_have(FenceKey(term)));
}

TEST(TermFence, LetsFewAbsentTermsThrough) {
  SeededRandom random(2);
  constexpr int kTerms = 100'000;
  TermFenceBuilder builder(kTerms);
  for (int i = 0; i < kTerms; ++i) builder.add(random.next_u64());
  const TermFence fence(builder.bytes());
  int passed = 0;
  for (int i = 0; i < kTerms; ++i) passed += fence.may_have(FenceKey(random.next_u64())) ? 1 : 0;
  EXPECT_LT(passed, kTerms * 2 / 100);
  EXPECT_LE(builder.bytes().size(), kTerms * 10 / 8 + kFenceBlockBytes);
}

TEST(TermFence, OfNoTermsDeniesEverything) {
  TermFenceBuilder builder(0);
  const TermFence fence(builder.bytes());
  EXPECT_FALSE(fence.may_have(FenceKey(0)));
  EXPECT_FALSE(fence.may_have(FenceKey(UINT64_MAX)));
}

TEST(TermFence, TakesTheLowestAndTheHighestTerm) {
  TermFenceBuilder builder(2);
  builder.add(0);
  builder.add(UINT64_MAX);
  const TermFence fence(builder.bytes());
  EXPECT_TRUE(fence.may_have(FenceKey(0)));
  EXPECT_TRUE(fence.may_have(FenceKey(UINT64_MAX)));
}

}  // namespace
}  // namespace gyre::storage

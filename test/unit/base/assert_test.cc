#include "gyre/base/assert.h"

#include <gtest/gtest.h>

namespace gyre {
namespace {

enum class Colour : unsigned char { kRed = 3, kBlue = 4 };

TEST(Assert, HoldsSilently) {
  GYRE_ASSERT(1 + 1 == 2);
  GYRE_ASSERT_CMP(1, <, 2);
}

TEST(AssertDeathTest, FailurePrintsTheCondition) {
  EXPECT_DEATH(GYRE_ASSERT(1 + 1 == 3), "assert_test.cc:[0-9]+: assertion failed: 1 \\+ 1 == 3");
}

TEST(AssertDeathTest, FailedComparisonPrintsBothOperands) {
  const int bytes = 17;
  EXPECT_DEATH(GYRE_ASSERT_CMP(bytes, <=, 16), "bytes <= 16 \\(17 against 16\\)");
  EXPECT_DEATH(GYRE_ASSERT_CMP(Colour::kRed, ==, Colour::kBlue), "\\(3 against 4\\)");
}

TEST(Assert, ComparisonEvaluatesEachOperandOnce) {
  int calls = 0;
  const auto next = [&calls] { return ++calls; };
  GYRE_ASSERT_CMP(next(), ==, 1);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace gyre

#include "app/age_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace gyre::app {
namespace {

TEST(AgeText, ReadsNumbersWithAUnit) {
  EXPECT_EQ(parse_age("45s"), 45u);
  EXPECT_EQ(parse_age("30m"), 1'800u);
  EXPECT_EQ(parse_age("12h"), 43'200u);
  EXPECT_EQ(parse_age("90d"), 7'776'000u);
  EXPECT_EQ(parse_age("2w"), 1'209'600u);
  EXPECT_EQ(parse_age("1y"), 31'536'000u);
  EXPECT_EQ(parse_age("1000y"), 31'536'000'000u);
  EXPECT_EQ(parse_age("forever"), 0u);
}

TEST(AgeText, RefusesWhatIsNoAge) {
  for (const char* text : {"", "90", "d", "0d", "-1d", "1.5d", "90 d", "90dd", "90D", " 90d",
                           "ever", "1001y", "18446744073709551615d", "18446744073709551616s"}) {
    EXPECT_EQ(parse_age(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(AgeText, WritesTheLargestUnitThatLeavesNoRest) {
  EXPECT_EQ(age_text(0), "forever");
  EXPECT_EQ(age_text(59), "59s");
  EXPECT_EQ(age_text(3'600), "1h");
  EXPECT_EQ(age_text(36 * 3'600), "36h");
  EXPECT_EQ(age_text(7 * 24 * 3'600), "7d");
  EXPECT_EQ(age_text(365 * 24 * 3'600), "1y");
}

TEST(AgeText, ReadsWhatItWrites) {
  for (std::uint64_t seconds = 0; seconds < 400 * 24 * 3'600; seconds += 977) {
    ASSERT_EQ(parse_age(age_text(seconds)), seconds);
  }
}

}  // namespace
}  // namespace gyre::app

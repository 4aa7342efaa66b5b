#include "app/quantity_text.h"

#include <gtest/gtest.h>

namespace gyre::app {
namespace {

TEST(QuantityText, CountsAreCutInThousands) {
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1'000), "1,000");
  EXPECT_EQ(count_text(12'345'678), "12,345,678");
}

TEST(QuantityText, BytesHaveOneDigitAndTheUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 bytes");
  EXPECT_EQ(bytes_text(1'023), "1023 bytes");
  EXPECT_EQ(bytes_text(1'536), "1.5 KiB");
  EXPECT_EQ(bytes_text(1024 * 1024 - 1), "1.0 MiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16777216.0 TiB");
}

TEST(QuantityText, DurationsTimesAndShares) {
  EXPECT_EQ(seconds_text(0.4242), "0.42 s");
  EXPECT_EQ(seconds_text(42.4), "42 s");
  EXPECT_EQ(seconds_text(200), "3 min 20 s");
  EXPECT_EQ(time_text(1'764'537'535), "2025-11-30 21:18:55");
  EXPECT_EQ(time_text(UINT64_MAX), "18446744073709551615");
  EXPECT_EQ(share_text(1, 8), "12.5 %");
  EXPECT_EQ(share_text(0, 0), "0.0 %");
}

}  // namespace
}  // namespace gyre::app

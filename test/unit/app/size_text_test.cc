#include "app/size_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

namespace gyre::app {
namespace {

TEST(SizeText, ReadsPlainNumbersAsBytes) {
  EXPECT_EQ(parse_size("0"), 0u);
  EXPECT_EQ(parse_size("524288"), 524288u);
}

TEST(SizeText, ReadsUnitsWithAndWithoutASpace) {
  EXPECT_EQ(parse_size("1KiB"), 1024u);
  EXPECT_EQ(parse_size("512 KiB"), 524288u);
  EXPECT_EQ(parse_size("128 MiB"), 134217728u);
  EXPECT_EQ(parse_size("2GiB"), 2147483648u);
}

TEST(SizeText, RefusesWhatIsNoSize) {
  for (const char* text : {"", " ", "MiB", "-1", "+1", "1.5 MiB", "1 MB", "1  MiB", "1 mib", "1 ",
                           " 1", "1 MiB ", "0x10", "1 MiBs"}) {
    EXPECT_EQ(parse_size(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(SizeText, RefusesWhatOverflows) {
  EXPECT_EQ(parse_size("9223372036854775807"), 9223372036854775807u);
  EXPECT_EQ(parse_size("9223372036854775808"), std::nullopt);
  EXPECT_EQ(parse_size("99999999999999999999"), std::nullopt);
  EXPECT_EQ(parse_size("8589934591 GiB"), 8589934591u << 30);
  EXPECT_EQ(parse_size("8589934592 GiB"), std::nullopt);
}

TEST(SizeText, PrintsTheLargestExactUnit) {
  EXPECT_EQ(size_text(0), "0 bytes");
  EXPECT_EQ(size_text(1000), "1000 bytes");
  EXPECT_EQ(size_text(1024), "1 KiB");
  EXPECT_EQ(size_text(1536), "1536 bytes");
  EXPECT_EQ(size_text(134217728), "128 MiB");
  EXPECT_EQ(size_text(2147483648), "2 GiB");
  EXPECT_EQ(size_text(2147483648 + 1048576), "2049 MiB");
}

}  // namespace
}  // namespace gyre::app

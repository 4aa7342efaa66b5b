#include "nostr/json_number.h"

#include <gtest/gtest.h>

#include <string>

namespace gyre::nostr {
namespace {

TEST(JsonNumber, PlainIntegersAreRead) {
  EXPECT_EQ(parse_integer("0").magnitude, 0u);
  EXPECT_TRUE(parse_integer("0").is_integer);
  EXPECT_EQ(parse_integer("1767225600 \n").magnitude, 1'767'225'600u);
  EXPECT_EQ(parse_integer("1767225600 \n").digits, "1767225600");
  const IntegerToken negative = parse_integer("-17");
  EXPECT_TRUE(negative.is_integer);
  EXPECT_TRUE(negative.is_negative);
  EXPECT_EQ(negative.magnitude, 17u);
}

TEST(JsonNumber, SizeIsJudgedExactly) {
  const IntegerToken largest = parse_integer("18446744073709551615");
  EXPECT_TRUE(largest.is_integer);
  EXPECT_TRUE(largest.fits);
  EXPECT_EQ(largest.magnitude, ~std::uint64_t{0});
  for (const char* text :
       {"18446744073709551616", "18446744073709551620", "184467440737095516150"}) {
    EXPECT_TRUE(parse_integer(text).is_integer) << text;
    EXPECT_FALSE(parse_integer(text).fits) << text;
  }
  const std::string huge(1000, '9');
  EXPECT_TRUE(parse_integer(huge).is_integer);
  EXPECT_FALSE(parse_integer(huge).fits);
}

TEST(JsonNumber, NothingElseIsAnInteger) {
  for (const char* text : {"", "-", "-0", "00", "01", "+1", "1.0", "1e3", "1E3", "1.", ".5", "0x1",
                           "1 2", "true", "\"1\"", "1\"a\"", "]"}) {
    EXPECT_FALSE(parse_integer(text).is_integer) << text;
  }
  EXPECT_FALSE(parse_integer(std::string_view("1\0", 2)).is_integer);
}

TEST(JsonNumber, AnyJsonNumberIsSkipped) {
  for (const std::string text : {"0", "-0", "12", "-12.5", "1e5", "1E+5", "0.1e-300", "1e999999"}) {
    EXPECT_EQ(skip_number(text.data(), text.data() + text.size()), text.data() + text.size())
        << text;
  }
  const std::string leading_zero = "01";
  EXPECT_EQ(skip_number(leading_zero.data(), leading_zero.data() + 2), leading_zero.data() + 1);
  for (const std::string text :
       {"", "-", "+1", ".5", "1.", "1.e5", "1e", "1e+", "NaN", "Infinity"}) {
    EXPECT_EQ(skip_number(text.data(), text.data() + text.size()), nullptr) << text;
  }
}

}  // namespace
}  // namespace gyre::nostr

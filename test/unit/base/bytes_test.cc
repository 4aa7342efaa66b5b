#include "gyre/base/bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"

namespace gyre {
namespace {

TEST(Hex, EncodesEveryByteAsTwoLowerCaseDigits) {
  std::vector<std::uint8_t> bytes(256);
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i);
  const std::string hex = to_hex(bytes);
  ASSERT_EQ(hex.size(), 512u);
  EXPECT_EQ(hex.substr(0, 8), "00010203");
  EXPECT_EQ(hex.substr(2 * 0x9a, 6), "9a9b9c");
  EXPECT_EQ(hex.substr(504), "fcfdfeff");

  std::vector<std::uint8_t> back(256);
  ASSERT_TRUE(hex_decode(hex, back.data()));
  EXPECT_EQ(back, bytes);
}

TEST(Hex, DecodesNothingFromNothing) {
  EXPECT_EQ(to_hex({}), "");
  EXPECT_TRUE(hex_decode("", nullptr));
}

TEST(Hex, RefusesOddLengths) {
  std::uint8_t out[4];
  EXPECT_FALSE(hex_decode("a", out));
  EXPECT_FALSE(hex_decode("abc", out));
}

TEST(Hex, RefusesEveryOtherCharacterInEitherPlace) {
  std::uint8_t out[1];
  for (int c = 0; c < 256; ++c) {
    const char character = static_cast<char>(c);
    const bool is_digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    EXPECT_EQ(hex_decode(std::string{character, '0'}, out), is_digit) << c;
    EXPECT_EQ(hex_decode(std::string{'f', character}, out), is_digit) << c;
    EXPECT_EQ(is_lower_hex(std::string{character}, 1), is_digit) << c;
  }
}

TEST(Hex, ABadDigitAnywhereSpoilsTheWhole) {
  const std::string good(64, 'a');
  std::uint8_t out[32];
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = 'A';
    EXPECT_FALSE(hex_decode(bad, out)) << i;
    EXPECT_FALSE(is_lower_hex(bad, 64)) << i;
  }
}

TEST(Hex, EveryLengthComesBackAndEveryWrongDigitIsSeen) {
  for (std::size_t length = 0; length <= 100; ++length) {
    std::vector<std::uint8_t> bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(37 * i + length);
    const std::string hex = to_hex(bytes);
    std::vector<std::uint8_t> back(length);
    ASSERT_TRUE(hex_decode(hex, back.data()));
    ASSERT_EQ(back, bytes);
    ASSERT_TRUE(is_lower_hex(hex, 2 * length));
    for (std::size_t at = 0; at < hex.size(); ++at) {
      std::string wrong = hex;
      for (const char c : {'A', 'g', '/', ':', '`', '\0', '\xb0', '\xe1'}) {
        wrong[at] = c;
        ASSERT_FALSE(hex_decode(wrong, back.data())) << wrong;
        ASSERT_FALSE(is_lower_hex(wrong, wrong.size())) << wrong;
      }
    }
  }
}

TEST(Hex, LowerHexCountsItsDigits) {
  EXPECT_TRUE(is_lower_hex("0123456789abcdef", 16));
  EXPECT_FALSE(is_lower_hex("0123456789abcdef", 15));
  EXPECT_FALSE(is_lower_hex("0123456789abcdef", 17));
  EXPECT_TRUE(is_lower_hex("", 0));
}

Bytes32 filled(std::uint8_t first, std::uint8_t last) {
  Bytes32 value;
  value.bytes.front() = first;
  value.bytes.back() = last;
  return value;
}

TEST(Bytes32, OrdersAsItsHexDoes) {
  const std::vector<Bytes32> ordered = {filled(0, 0),      filled(0, 1),    filled(0, 0x80),
                                        filled(1, 0),      filled(0x7f, 9), filled(0x80, 0),
                                        filled(0xff, 0xff)};
  for (std::size_t i = 0; i + 1 < ordered.size(); ++i) {
    EXPECT_LT(ordered[i], ordered[i + 1]);
    EXPECT_LT(to_hex(ordered[i].bytes), to_hex(ordered[i + 1].bytes));
    EXPECT_NE(ordered[i], ordered[i + 1]);
  }
}

TEST(Bytes32, HashesByValue) {
  absl::flat_hash_set<Bytes32> set;
  set.insert(filled(1, 2));
  set.insert(filled(1, 2));
  set.insert(filled(2, 1));
  EXPECT_EQ(set.size(), 2u);
  EXPECT_TRUE(set.contains(filled(1, 2)));
}

TEST(Bytes32, Prefix64SortsAsTheWholeDoes) {
  const std::uint8_t bytes[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
  EXPECT_EQ(prefix64(bytes), 0x0123456789abcdefu);
}

}  // namespace
}  // namespace gyre

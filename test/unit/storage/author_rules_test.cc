// The parts of the rules that need no store; store_rules_test.cc has the rest.
#include "storage/author_rules.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/event_factory.h"

namespace gyre::storage {
namespace {

using test::pack_unsigned_event;
using test::pubkey;
using test::pubkey_hex;

TEST(AuthorRules, AddressIsSplitAtItsFirstTwoColons) {
  const std::string key = pubkey_hex(1);
  const std::string text = "30023:" + key + ":a:b:";  // The address is a view into it.
  const auto address = parse_address(text);
  ASSERT_TRUE(address.has_value());
  EXPECT_EQ(address->kind, 30'023);
  EXPECT_EQ(address->pubkey, pubkey(1));
  EXPECT_EQ(address->d, "a:b:");
  const std::string without_d = "30023:" + key + ":";
  EXPECT_EQ(parse_address(without_d)->d, "");
  EXPECT_EQ(parse_address("0:" + key + ":")->kind, 0);
  EXPECT_EQ(parse_address("3:" + key + ":")->kind, 3);
  EXPECT_EQ(parse_address("10002:" + key + ":")->kind, 10'002);
  EXPECT_EQ(parse_address("39999:" + key + ":x")->kind, 39'999);
}

TEST(AuthorRules, WhatNamesNoAddressIsNone) {
  const std::string key = pubkey_hex(1);
  std::string upper = key;
  std::ranges::transform(upper, upper.begin(), [](char c) {
    return c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  ASSERT_NE(upper, key);
  const std::vector<std::string> texts = {
      "",
      ":",
      "::",
      "30023",
      "30023:" + key,
      ":" + key + ":x",
      "030023:" + key + ":x",
      "00:" + key + ":",
      "+0:" + key + ":",
      "-1:" + key + ":",
      " 0:" + key + ":",
      "0 :" + key + ":",
      "0x0:" + key + ":",
      "65536:" + key + ":x",
      "95559:" + key + ":x",
      "4294997319:" + key + ":x",
      "30023:" + upper + ":x",
      "30023:" + key.substr(1) + ":x",
      "30023:" + key + "0:x",
      "30023: " + key + ":x",
      "1:" + key + ":",       // Regular.
      "20001:" + key + ":",   // Ephemeral.
      "0:" + key + ":x",      // Replaceable kinds have no d.
      "40000:" + key + ":x",  // In no named range.
  };
  for (const std::string& text : texts) EXPECT_FALSE(parse_address(text).has_value()) << text;
}

TEST(AuthorRules, OnlyReplaceableAndAddressableEventsHaveAnAddress) {
  const auto address_for = [](std::uint16_t kind) {
    static std::vector<std::uint8_t> event;
    event = pack_unsigned_event({.key_index = 1, .kind = kind, .tags = {{"d", "x"}}});
    return address_of(nostr::PackedEventView(event.data()), pubkey(1));
  };
  EXPECT_EQ(address_for(0)->d, "");
  EXPECT_EQ(address_for(10'000)->d, "");
  EXPECT_EQ(address_for(30'000)->d, "x");
  EXPECT_EQ(address_for(30'000)->kind, 30'000);
  EXPECT_FALSE(address_for(1).has_value());
  EXPECT_FALSE(address_for(20'000).has_value());
  EXPECT_FALSE(address_for(45).has_value());
}

class Tombstones : public testing::Test {
 protected:
  TermList of(std::uint16_t kind, std::vector<std::vector<std::string>> tags) {
    const auto event = pack_unsigned_event({.key_index = 1, .kind = kind, .tags = std::move(tags)});
    TermList terms;
    append_tombstones(hasher_, nostr::PackedEventView(event.data()), terms);
    return terms;
  }

  TermHasher hasher_{{1, 2, 3}};
};

TEST_F(Tombstones, DeletionLeavesOneForEachTargetOnce) {
  const std::string id(64, 'a');
  Bytes32 id_bytes;
  ASSERT_TRUE(hex_decode(id, id_bytes.bytes.data()));
  const std::string address = "30023:" + pubkey_hex(1) + ":x";
  const TermList terms = of(5, {{"e", id}, {"e", id, "wss://r"}, {"a", address}, {"a", address}});
  ASSERT_EQ(terms.size(), 2u);
  EXPECT_NE(std::ranges::find(terms, hasher_.deleted_id(id_bytes, pubkey(1))), terms.end());
  EXPECT_NE(std::ranges::find(terms, hasher_.deleted_address(30'023, pubkey(1), "x")), terms.end());
}

TEST_F(Tombstones, DeletionOfNothingLeavesNone) {
  EXPECT_TRUE(of(5, {}).empty());
  EXPECT_TRUE(
      of(5, {{"e"}, {"e", "x"}, {"a", "x"}, {"a", "30023:" + pubkey_hex(2) + ":x"}}).empty());
}

TEST_F(Tombstones, VanishLeavesOneAndOtherEventsNone) {
  const TermList terms = of(62, {{"e", std::string(64, 'a')}});
  ASSERT_EQ(terms.size(), 1u);
  EXPECT_EQ(terms[0], hasher_.vanished(pubkey(1)));
  EXPECT_TRUE(of(1, {{"e", std::string(64, 'a')}}).empty());
  EXPECT_TRUE(of(6, {{"e", std::string(64, 'a')}}).empty());
}

}  // namespace
}  // namespace gyre::storage

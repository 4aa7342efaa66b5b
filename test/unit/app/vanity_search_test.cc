#include "app/vanity_search.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "gyre/nostr/entity.h"

namespace gyre::app {
namespace {

std::string npub_of(const Bytes32& key) {
  std::string text;
  nostr::Entity entity;
  entity.key = key;
  EXPECT_EQ(append_entity(entity, text), nostr::DecodeError::kNone);
  return text.substr(5);
}

VanityPattern pattern(std::string text, VanityForm form, VanityPosition position) {
  auto made = VanityPattern::make(std::move(text), form, position);
  EXPECT_TRUE(made.ok()) << made.status();
  return *made;
}

TEST(VanityPattern, AgreesWithTheTextItself) {
  SeededRandom random(1);
  for (int i = 0; i < 200; ++i) {
    Bytes32 key;
    random.fill(key.bytes);
    const std::string npub = npub_of(key);
    const std::string hex = to_hex(key.bytes);
    for (std::size_t chars = 1; chars <= VanityPattern::kCharsMax; ++chars) {
      using enum VanityForm;
      using enum VanityPosition;
      EXPECT_TRUE(pattern(npub.substr(0, chars), kNpub, kBegin).fits(key));
      EXPECT_TRUE(pattern(npub.substr(20, chars), kNpub, kContain).fits(key));
      EXPECT_TRUE(pattern(npub.substr(58 - chars), kNpub, kEnd).fits(key));
      EXPECT_TRUE(pattern(hex.substr(0, chars), kHex, kBegin).fits(key));
      EXPECT_TRUE(pattern(hex.substr(64 - chars), kHex, kEnd).fits(key));
      std::string wrong = npub.substr(0, chars);
      wrong.back() = wrong.back() == 'q' ? 'p' : 'q';
      EXPECT_FALSE(pattern(wrong, kNpub, kBegin).fits(key));
    }
  }
}

TEST(VanityPattern, RefusesWhatNoKeyCanHave) {
  using enum VanityForm;
  using enum VanityPosition;
  EXPECT_FALSE(VanityPattern::make("", kNpub, kBegin).ok());
  EXPECT_FALSE(VanityPattern::make("bob", kNpub, kBegin).ok());
  EXPECT_FALSE(VanityPattern::make("Q", kNpub, kBegin).ok());
  EXPECT_FALSE(VanityPattern::make("q", kHex, kBegin).ok());
  EXPECT_FALSE(VanityPattern::make(std::string(17, 'q'), kNpub, kBegin).ok());
  EXPECT_FALSE(VanityPattern::make("zqqqqqq", kNpub, kEnd).ok());
  EXPECT_TRUE(VanityPattern::make("sqqqqqq", kNpub, kEnd).ok());
  EXPECT_TRUE(VanityPattern::make("zqqqqqq", kNpub, kContain).ok());
}

TEST(VanityPattern, ExpectsWhatChanceSays) {
  using enum VanityForm;
  using enum VanityPosition;
  EXPECT_DOUBLE_EQ(pattern("qq", kNpub, kBegin).expected_attempts(), 1'024);
  EXPECT_DOUBLE_EQ(pattern("ab", kHex, kEnd).expected_attempts(), 256);
  EXPECT_DOUBLE_EQ(pattern("sqqqqqq", kNpub, kEnd).expected_attempts(), 2'147'483'648.0);
  EXPECT_NEAR(pattern("qqqq", kNpub, kContain).expected_attempts(), 1'048'576.0 / 55, 30);
  // 32^16 is 2^80; there are 43 places.
  const std::string longest(16, 'q');
  EXPECT_NEAR(pattern(longest, kNpub, kContain).expected_attempts(), 0x1p80 / 43, 0x1p60);
}

TEST(VanitySearch, FindsAKeyWithItsSecret) {
  VanitySearch search(pattern("q", VanityForm::kNpub, VanityPosition::kEnd));
  ASSERT_TRUE(search.start(2).ok());
  while (!search.is_found()) std::this_thread::yield();
  const std::optional<nostr::SecretKey> key = search.stop();
  ASSERT_TRUE(key.has_value());
  EXPECT_EQ(npub_of(key->public_key()).back(), 'q');
  EXPECT_GT(search.attempts(), 0u);
  EXPECT_FALSE(search.stop().has_value());
}

TEST(VanitySearch, CanBeStopped) {
  VanitySearch search(pattern(std::string(16, 'q'), VanityForm::kNpub, VanityPosition::kBegin));
  ASSERT_TRUE(search.start(2).ok());
  while (search.attempts() == 0) std::this_thread::yield();
  EXPECT_FALSE(search.stop().has_value());
}

}  // namespace
}  // namespace gyre::app

#include "nostr/key_cache.h"

#include <gtest/gtest.h>

#include <cstring>

#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

secp256k1_xonly_pubkey parse(const Bytes32& key) {
  secp256k1_xonly_pubkey parsed;
  EXPECT_EQ(secp256k1_xonly_pubkey_parse(secp256k1_context_static, &parsed, key.bytes.data()), 1);
  return parsed;
}

TEST(KeyCache, SlotsAreRoundedUpToAPowerOfTwo) {
  EXPECT_EQ(KeyCache(0, {}).slot_count(), 0u);
  EXPECT_EQ(KeyCache(1, {}).slot_count(), 4u);
  EXPECT_EQ(KeyCache(5, {}).slot_count(), 8u);
  EXPECT_EQ(KeyCache(4096, {}).slot_count(), 4096u);
}

TEST(KeyCache, AKeySeenBeforeIsFoundAgain) {
  KeyCache cache(64, {1, 2});
  const Bytes32 key = test::pubkey(0);
  ASSERT_NE(cache.find_or_parse(key), nullptr);
  EXPECT_EQ(cache.hits(), 0u);
  ASSERT_NE(cache.find_or_parse(key), nullptr);
  EXPECT_EQ(cache.hits(), 1u);
}

// One set of four ways: the fifth key pushes out the first.
TEST(KeyCache, AFullSetForgetsItsOldestKey) {
  KeyCache cache(4, {3, 4});
  for (std::uint32_t i = 0; i < 5; ++i) ASSERT_NE(cache.find_or_parse(test::pubkey(i)), nullptr);
  EXPECT_EQ(cache.hits(), 0u);
  for (std::uint32_t i = 1; i < 5; ++i) ASSERT_NE(cache.find_or_parse(test::pubkey(i)), nullptr);
  EXPECT_EQ(cache.hits(), 4u);
  ASSERT_NE(cache.find_or_parse(test::pubkey(0)), nullptr);
  EXPECT_EQ(cache.hits(), 4u);
  ASSERT_NE(cache.find_or_parse(test::pubkey(1)), nullptr);
  EXPECT_EQ(cache.hits(), 4u);
}

TEST(KeyCache, AnswersAreThoseOfTheLibraryWhateverIsForgotten) {
  KeyCache cache(8, {5, 6});
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t i = 0; i < 40; ++i) {
      const Bytes32 key = test::pubkey(i);
      const secp256k1_xonly_pubkey expected = parse(key);
      const secp256k1_xonly_pubkey* const found = cache.find_or_parse(key);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(secp256k1_xonly_pubkey_cmp(secp256k1_context_static, found, &expected), 0);
    }
  }
}

TEST(KeyCache, WhatIsNoKeyIsNotRemembered) {
  KeyCache cache(4, {7, 8});
  Bytes32 not_on_curve;
  ASSERT_TRUE(hex_decode("eefdea4cdb677750a420fee807eacf21eb9898ae79b9768766e4faa04a2d4a34",
                         not_on_curve.bytes.data()));
  EXPECT_EQ(cache.find_or_parse(not_on_curve), nullptr);
  EXPECT_EQ(cache.find_or_parse(not_on_curve), nullptr);
  EXPECT_EQ(cache.find_or_parse(Bytes32{}), nullptr);
  EXPECT_EQ(cache.hits(), 0u);
}

}  // namespace
}  // namespace gyre::nostr

#include "gyre/nostr/nip04.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "support/allocation_counter.h"

namespace gyre::nostr {
namespace {

Bytes32 from_hex(std::string_view hex) {
  Bytes32 bytes;
  EXPECT_TRUE(hex_decode(hex, bytes.bytes.data()));
  return bytes;
}

const Bytes32 kKey = from_hex("7a1ccf5ce5a08e380f590de0c02776623b85a61ae67cfb6a017317e505b7cb51");
const std::string kIvText = "?iv=AAECAwQFBgcICQoLDA0ODw==";

// Made with `openssl enc -aes-256-cbc -K ... -iv 000102030405060708090a0b0c0d0e0f -base64 -A`.
const std::vector<std::pair<std::string, std::string>> kVectors = {
    {"", "8ejEd1R1H63cRKL2joAatQ=="},
    {"hello nostr", "wv7/AIu7ZbiUmtPZykzejA=="},
    {"exactly sixteen!", "nk0uhqvEIGRSYa5XXyKXPtNVsZ3HD4lR4emooL9FSno="},
    {"ünïcödé 🍕 and more than two blocks of text",
     "NpYsAqYY4farRtDMlhbHuFbJWNo1I1bhq43zad7rnmMecw8Cvh9vp9zJjABJsFsnk7GBeJ/vfTEgsB9lHZ0tCg=="},
};

TEST(Nip04, HasTheValuesOfAnotherProgram) {
  std::vector<std::uint8_t> iv(16);
  for (std::size_t i = 0; i < iv.size(); ++i) iv[i] = static_cast<std::uint8_t>(i);
  Nip04 cipher(kKey);
  for (const auto& [text, encrypted] : kVectors) {
    std::string payload;
    ASSERT_EQ(cipher.encrypt_with_iv(text, iv, payload), DecodeError::kNone);
    EXPECT_EQ(payload, encrypted + kIvText);
    std::string back = "left over";
    ASSERT_EQ(cipher.decrypt(payload, back), DecodeError::kNone);
    EXPECT_EQ(back, text);
  }
}

TEST(Nip04, BothSidesUnderstandEachOther) {
  SeededRandom random(1);
  const SecretKey alice = SecretKey::generate(random);
  const SecretKey bob = SecretKey::generate(random);
  std::optional<Nip04> there = Nip04::derive(alice, bob.public_key());
  std::optional<Nip04> here = Nip04::derive(bob, alice.public_key());
  ASSERT_TRUE(there && here);
  std::string payload;
  std::string other_payload;
  std::string text;
  ASSERT_EQ(there->encrypt("hi", random, payload), DecodeError::kNone);
  ASSERT_EQ(there->encrypt("hi", random, other_payload), DecodeError::kNone);
  EXPECT_NE(payload, other_payload);
  ASSERT_EQ(here->decrypt(payload, text), DecodeError::kNone);
  EXPECT_EQ(text, "hi");
  Bytes32 none;
  none.bytes.fill(0xff);
  EXPECT_FALSE(Nip04::derive(alice, none).has_value());
}

TEST(Nip04, RefusesWhatIsNoPayload) {
  using enum DecodeError;
  const std::string& good = kVectors[1].second;
  const std::vector<std::pair<std::string, DecodeError>> cases = {
      {"", kBadBase64},
      {good, kBadBase64},
      {good + "?iv=", kBadBase64},
      {good + "?iv=AAECAwQFBgcICQoLDA0O", kBadBase64},      // 15 bytes
      {good + "?iv=AAECAwQFBgcICQoLDA0ODxA=", kBadBase64},  // 17 bytes
      {good + "?iv=AAECAwQFBgcICQoLDA0OD===", kBadBase64},  //
      {good + kIvText + "x", kBadBase64},                   //
      {"x" + good + kIvText, kBadBase64},                   //
      {kIvText, kBadPadding},                               // no block at all
      {"AAAA" + kIvText, kBadPadding},                      // no whole block
      {kVectors[2].second.substr(0, 20) + "PtM=" + kIvText, kBadPadding},
      {std::string(4 << 20, 'A') + kIvText, kTooLong},
  };
  for (const auto& [payload, expected] : cases) {
    Nip04 cipher(kKey);
    std::string text;
    EXPECT_EQ(cipher.decrypt(payload, text), expected) << payload.substr(0, 100);
  }
  Nip04 cipher(kKey);
  std::string payload;
  SeededRandom random(2);
  EXPECT_EQ(cipher.encrypt(std::string(kNip04TextBytesMax + 1, 'x'), random, payload), kTooLong);
  EXPECT_EQ(cipher.encrypt(std::string(kNip04TextBytesMax, 'x'), random, payload), kNone);
  std::string text;
  EXPECT_EQ(cipher.decrypt(payload, text), kNone);
  EXPECT_EQ(text.size(), kNip04TextBytesMax);
}

TEST(Nip04, AWrongKeyIsNearlyAlwaysNoticed) {
  int unnoticed = 0;
  for (std::uint8_t i = 0; i < 100; ++i) {
    Bytes32 key = kKey;
    key.bytes[0] = static_cast<std::uint8_t>(key.bytes[0] + 1 + i);
    Nip04 cipher(key);
    std::string text;
    unnoticed += cipher.decrypt(kVectors[1].second + kIvText, text) == DecodeError::kNone ? 1 : 0;
  }
  EXPECT_LT(unnoticed, 5);
}

TEST(Nip04, UsedAgainItAllocatesNothing) {
  SeededRandom random(3);
  Nip04 cipher(kKey);
  std::string payload;
  std::string text;
  const auto work = [&] {
    EXPECT_EQ(cipher.encrypt("a text of some length", random, payload), DecodeError::kNone);
    EXPECT_EQ(cipher.decrypt(payload, text), DecodeError::kNone);
  };
  work();
  EXPECT_EQ(test::allocations_of(work).count, 0u);
}

}  // namespace
}  // namespace gyre::nostr

#include "app/key_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace gyre::app {
namespace {

using ::testing::HasSubstr;

constexpr char kHex[] = "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d";
constexpr char kNpub[] = "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6";
constexpr char kNprofile[] =
    "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz"
    "4mhxue69uhkg6nzv9ejuumpv34kytnrdaksjlyr9p";
constexpr char kNsec[] = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5";

TEST(KeyText, APublicKeyHasThreeForms) {
  for (const char* const text : {kHex, kNpub, kNprofile}) {
    const absl::StatusOr<Bytes32> key = parse_public_key(text);
    ASSERT_TRUE(key.ok()) << key.status();
    EXPECT_EQ(to_hex(key->bytes), kHex);
  }
}

TEST(KeyText, WhatIsNoPublicKeyIsNamedButSecretsAreNot) {
  const auto message_of = [](const char* text) {
    return std::string(parse_public_key(text).status().message());
  };
  EXPECT_THAT(message_of("npub1wrong"), HasSubstr("'npub1wrong'"));
  EXPECT_THAT(message_of("note1"), HasSubstr("npub1"));
  EXPECT_THAT(message_of(kNsec), ::testing::Not(HasSubstr("vl029")));
}

TEST(KeyText, ShowsAllFormsAndParts) {
  EXPECT_EQ(*entity_lines(kNpub),
            std::string("public      ") + kHex + "\nnpub        " + kNpub + "\n");
  EXPECT_THAT(*entity_lines(kHex), HasSubstr(kNpub));
  EXPECT_THAT(*entity_lines(kNprofile), HasSubstr("relay       wss://djbas.sadkb.com\n"));
  EXPECT_FALSE(entity_lines(kNsec).ok());
  EXPECT_FALSE(entity_lines("").ok());
  std::optional<nostr::SecretKey> key;
  ASSERT_EQ(nostr::SecretKey::parse(kNsec, key), nostr::DecodeError::kNone);
  EXPECT_EQ(secret_key_lines(*key),
            "secret      67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa\n"
            "nsec        nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5\n"
            "public      7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e\n"
            "npub        npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg\n");
}

}  // namespace
}  // namespace gyre::app

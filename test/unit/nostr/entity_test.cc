#include "gyre/nostr/entity.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "gyre/nostr/bech32.h"

namespace gyre::nostr {
namespace {

Bytes32 from_hex(std::string_view hex) {
  Bytes32 bytes;
  EXPECT_TRUE(hex_decode(hex, bytes.bytes.data()));
  return bytes;
}

std::string written(const Entity& entity) {
  std::string out;
  EXPECT_EQ(append_entity(entity, out), DecodeError::kNone);
  return out;
}

Entity parsed(std::string_view text) {
  Entity entity;
  EXPECT_EQ(parse_entity(text, entity), DecodeError::kNone) << text;
  return entity;
}

// From NIP-19.
TEST(Entity, HasTheValuesOfTheSpecification) {
  const std::vector<std::tuple<EntityKind, std::string, std::string>> cases = {
      {EntityKind::kPublicKey, "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e",
       "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"},
      {EntityKind::kSecretKey, "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa",
       "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"},
      {EntityKind::kPublicKey, "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d",
       "npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6"},
  };
  for (const auto& [kind, hex, text] : cases) {
    EXPECT_EQ(written({.kind = kind, .key = from_hex(hex)}), text);
    EXPECT_EQ(parsed(text), (Entity{.kind = kind, .key = from_hex(hex)}));
  }
  const std::string profile =
      "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz"
      "4mhxue69uhkg6nzv9ejuumpv34kytnrdaksjlyr9p";
  const Entity entity = parsed(profile);
  EXPECT_EQ(entity.kind, EntityKind::kProfile);
  EXPECT_EQ(to_hex(entity.key.bytes),
            "3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d");
  EXPECT_EQ(entity.relays, (std::vector<std::string>{"wss://r.x.com", "wss://djbas.sadkb.com"}));
  EXPECT_EQ(written(entity), profile);
}

TEST(Entity, EveryKindComesBackAsItWas) {
  const Bytes32 key = from_hex(std::string(64, 'a'));
  const std::vector<Entity> entities = {
      {.kind = EntityKind::kNote, .key = key},
      {.kind = EntityKind::kProfile, .key = key},
      {.kind = EntityKind::kEvent, .key = key},
      {.kind = EntityKind::kEvent,
       .key = key,
       .relays = {"wss://a", ""},
       .author = from_hex(std::string(64, 'b')),
       .event_kind = 65'535},
      {.kind = EntityKind::kAddress, .key = key, .event_kind = 30'023},
      {.kind = EntityKind::kAddress,
       .key = key,
       .relays = {std::string(255, 'r')},
       .event_kind = 0,
       .identifier = std::string(255, 'd')},
  };
  for (const Entity& entity : entities) EXPECT_EQ(parsed(written(entity)), entity);
}

TEST(Entity, WhatDoesNotFitIsNotWritten) {
  std::string out = "as it was";
  Entity entity{.kind = EntityKind::kProfile, .relays = {std::string(256, 'r')}};
  EXPECT_EQ(append_entity(entity, out), DecodeError::kTooLong);
  entity.relays.assign(20, std::string(255, 'r'));
  EXPECT_EQ(append_entity(entity, out), DecodeError::kTooLong);
  EXPECT_EQ(append_entity({.kind = EntityKind::kAddress}, out), DecodeError::kMissingMember);
  EXPECT_EQ(out, "as it was");
}

DecodeError parse_parts(std::string_view prefix, const std::vector<std::uint8_t>& bytes) {
  std::string text(bech32_chars(prefix.size(), bytes.size()), '\0');
  write_bech32(prefix, bytes, text.data());
  Entity entity;
  return parse_entity(text, entity);
}

std::vector<std::uint8_t> part(std::uint8_t type, std::size_t bytes, std::uint8_t value = 0) {
  std::vector<std::uint8_t> out = {type, static_cast<std::uint8_t>(bytes)};
  out.insert(out.end(), bytes, value);
  return out;
}

std::vector<std::uint8_t> operator+(std::vector<std::uint8_t> a,
                                    const std::vector<std::uint8_t>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(Entity, PartsAreJudgedOneByOne) {
  using enum DecodeError;
  EXPECT_EQ(parse_parts("nprofile", part(0, 32)), kNone);
  EXPECT_EQ(parse_parts("nprofile", part(0, 32) + part(77, 5)), kNone);
  EXPECT_EQ(parse_parts("nprofile", {}), kMissingMember);
  EXPECT_EQ(parse_parts("nprofile", part(0, 31)), kTooShort);
  EXPECT_EQ(parse_parts("nprofile", part(0, 33)), kTooLong);
  EXPECT_EQ(parse_parts("nprofile", part(0, 32) + part(0, 32)), kRepeatedMember);
  EXPECT_EQ(parse_parts("nprofile", part(0, 32) + part(1, 2, 0xff)), kNotUtf8);
  EXPECT_EQ(parse_parts("nprofile", part(0, 32) + std::vector<std::uint8_t>{1}), kTooShort);
  EXPECT_EQ(parse_parts("nprofile", part(0, 32) + std::vector<std::uint8_t>{1, 9, 1}), kTooShort);
  EXPECT_EQ(parse_parts("nevent", part(0, 32) + part(3, 4, 1)), kBadNumber);
  EXPECT_EQ(parse_parts("nevent", part(0, 32) + part(3, 2)), kBadNumber);
  EXPECT_EQ(parse_parts("nevent", part(0, 32) + part(2, 3)), kTooShort);
  EXPECT_EQ(parse_parts("naddr", part(0, 0)), kMissingMember);
  EXPECT_EQ(parse_parts("naddr", part(0, 0) + part(2, 32)), kMissingMember);
  EXPECT_EQ(parse_parts("naddr", part(0, 0) + part(2, 32) + part(3, 4)), kNone);
  EXPECT_EQ(parse_parts("npub", std::vector<std::uint8_t>(31)), kTooShort);
  EXPECT_EQ(parse_parts("nsec", {}), kTooShort);
  EXPECT_EQ(parse_parts("nrelay", part(0, 3)), kBadPrefix);
}

}  // namespace
}  // namespace gyre::nostr

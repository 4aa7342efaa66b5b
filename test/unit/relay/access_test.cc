#include "relay/access.h"

#include <vector>

#include <gtest/gtest.h>

#include "support/event_factory.h"

namespace gyre::relay {
namespace {

using test::pubkey;
using test::pubkey_hex;

const std::vector<std::uint16_t> kGated = {4, 1059};

constexpr std::uint32_t kAuthor = 1;
constexpr std::uint32_t kRecipient = 2;
constexpr std::uint32_t kStranger = 3;

std::vector<std::uint8_t> message(std::uint16_t kind) {
  return test::pack_unsigned_event({.key_index = kAuthor,
                                    .kind = kind,
                                    .tags = {{"p"},
                                             {"p", "not a key"},
                                             {"P", pubkey_hex(kStranger)},
                                             {"e", pubkey_hex(kStranger)},
                                             {"p", pubkey_hex(4), pubkey_hex(kStranger)},
                                             {"p", pubkey_hex(kRecipient)}}});
}

bool may_read(std::uint16_t kind, const std::vector<std::uint32_t>& viewers) {
  const auto event = message(kind);
  std::vector<Bytes32> keys;
  for (const std::uint32_t viewer : viewers) keys.push_back(pubkey(viewer));
  return Access(kGated, keys).may_read(nostr::PackedEventView(event.data()));
}

TEST(Access, UngatedKindsAreForEverybody) {
  EXPECT_TRUE(may_read(1, {}));
  EXPECT_TRUE(may_read(5, {kStranger}));
  EXPECT_TRUE(may_read(1060, {}));
}

TEST(Access, DirectMessagesAreForAuthorAndRecipients) {
  EXPECT_FALSE(may_read(4, {}));
  EXPECT_FALSE(may_read(4, {kStranger}));
  EXPECT_TRUE(may_read(4, {kAuthor}));
  EXPECT_TRUE(may_read(4, {kRecipient}));
  EXPECT_TRUE(may_read(4, {4}));
  EXPECT_TRUE(may_read(4, {kStranger, kRecipient}));
}

TEST(Access, GiftWrapsAreForRecipientsAlone) {
  for (const std::uint16_t kind : {std::uint16_t{1059}, std::uint16_t{21'059}}) {
    EXPECT_FALSE(may_read(kind, {}));
    EXPECT_FALSE(may_read(kind, {kStranger}));
    EXPECT_FALSE(may_read(kind, {kAuthor}));
    EXPECT_TRUE(may_read(kind, {kRecipient}));
    EXPECT_TRUE(may_read(kind, {kAuthor, kRecipient}));
  }
}

TEST(Access, EphemeralWrapIsGatedWithTheStoredOne) {
  EXPECT_TRUE(is_gated(21'059, kGated));
  EXPECT_FALSE(is_gated(21'059, std::vector<std::uint16_t>{4}));
  EXPECT_TRUE(is_gated(21'059, std::vector<std::uint16_t>{21'059}));
  EXPECT_FALSE(is_gated(1059, std::vector<std::uint16_t>{21'059}));
  EXPECT_FALSE(is_gated(4, {}));
}

TEST(Access, WithoutGatedKindsEverythingIsReadable) {
  const auto event = message(4);
  EXPECT_TRUE(Access().may_read(nostr::PackedEventView(event.data())));
}

TEST(Access, FilterWantsGatedOnlyIfAllItsKindsAre) {
  nostr::Filter filter;
  EXPECT_FALSE(wants_gated_only(filter, kGated));  // No kinds: leaves gated ones out silently.
  filter.kinds = {4};
  EXPECT_TRUE(wants_gated_only(filter, kGated));
  filter.kinds = {4, 1059, 21'059};
  EXPECT_TRUE(wants_gated_only(filter, kGated));
  filter.kinds = {1, 1059};
  EXPECT_FALSE(wants_gated_only(filter, kGated));
  filter.kinds = {4};
  EXPECT_FALSE(wants_gated_only(filter, {}));
}

}  // namespace
}  // namespace gyre::relay

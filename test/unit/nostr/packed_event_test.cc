#include "gyre/nostr/packed_event.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

using Packed = std::vector<std::uint8_t>;

bool is_accepted(const Packed& packed) { return PackedEventView::check(packed).has_value(); }

const test::EventDraft kDraft{
    .created_at = 1'767'225'600,
    .kind = 30'023,
    .tags = {{"d", "post\n"},
             {"title", "x"},
             {"t", "red", "second"},
             {"T"},
             {"-"},
             {"1", "digit"},
             {"expiration", "1800000000"},
             {"expiration", "1"},
             {"d", "other"}},
    .content = "said \"hi\"",
};

TEST(PackedEvent, HoldsWhatTheEventSays) {
  const Packed packed = test::pack_event(kDraft);
  const PackedEventView event(packed.data());
  EXPECT_EQ(event.total_bytes(), packed.size());
  EXPECT_EQ(event.bytes().size(), packed.size());
  EXPECT_EQ(event.created_at(), 1'767'225'600u);
  EXPECT_EQ(event.kind(), 30'023);
  EXPECT_TRUE(event.is_protected());
  EXPECT_EQ(event.expiration(), 1'800'000'000u);
  EXPECT_EQ(event.pubkey_hex(), test::pubkey_hex(0));
  EXPECT_EQ(event.pubkey(), test::pubkey(0));
  EXPECT_EQ(to_hex(event.id().bytes), event.id_hex());
  EXPECT_EQ(event.sig_hex().size(), 128u);
  EXPECT_EQ(event.content_json(), R"("said \"hi\"")");
  EXPECT_EQ(event.tags_json(),
            R"([["d","post\n"],["title","x"],["t","red","second"],["T"],["-"],["1","digit"],)"
            R"(["expiration","1800000000"],["expiration","1"],["d","other"]])");
  EXPECT_EQ(event.json(), test::sign_event(kDraft));
}

TEST(PackedEvent, ListsSingleLetterTagsInOrder) {
  const Packed packed = test::pack_event(kDraft);
  const PackedEventView event(packed.data());
  ASSERT_EQ(event.tag_count(), 4u);
  EXPECT_EQ(event.tag(0).letter(), 'd');
  EXPECT_EQ(event.tag_value(event.tag(0)), R"(post\n)");
  EXPECT_EQ(event.tag(1).letter(), 't');
  EXPECT_EQ(event.tag_value(event.tag(1)), "red");
  EXPECT_EQ(event.tag(2).letter(), 'T');
  EXPECT_FALSE(event.tag(2).has_value());
  EXPECT_EQ(event.tag_value(event.tag(3)), "other");
  EXPECT_EQ(event.d_tag(), R"(post\n)");
}

TEST(PackedEvent, AnEventWithoutTagsHasNone) {
  const Packed packed = test::pack_event({.created_at = 0, .kind = 0});
  const PackedEventView event(packed.data());
  EXPECT_EQ(event.tag_count(), 0u);
  EXPECT_EQ(event.d_tag(), "");
  EXPECT_EQ(event.expiration(), std::nullopt);
  EXPECT_FALSE(event.is_protected());
  EXPECT_EQ(event.tags_json(), "[]");
  EXPECT_EQ(event.content_json(), "\"\"");
  EXPECT_TRUE(is_accepted(packed));
  EXPECT_FALSE(TagCursor(event).next());
}

TEST(PackedEvent, TheFirstDTagDecidesEvenWithoutAValue) {
  const Packed packed = test::pack_event({.kind = 30'000, .tags = {{"d"}, {"d", "later"}}});
  EXPECT_EQ(PackedEventView(packed.data()).d_tag(), "");
}

TEST(PackedEvent, LargestNumbersFit) {
  const Packed packed =
      test::pack_event({.created_at = 0x7fff'ffff'ffff'ffff, .kind = 65'535, .tags = {{"t", "x"}}});
  const PackedEventView event(packed.data());
  EXPECT_EQ(event.created_at(), 0x7fff'ffff'ffff'ffffu);
  EXPECT_EQ(event.kind(), 65'535);
  EXPECT_EQ(event.tag_value(event.tag(0)), "x");
  EXPECT_TRUE(is_accepted(packed));
}

TEST(PackedEvent, ViewsNeedNoAlignment) {
  const Packed packed = test::pack_event(kDraft);
  for (std::size_t shift = 1; shift < 8; ++shift) {
    Packed shifted(shift, 0);
    shifted.insert(shifted.end(), packed.begin(), packed.end());
    const PackedEventView event(shifted.data() + shift);
    EXPECT_EQ(event.json(), PackedEventView(packed.data()).json());
    EXPECT_EQ(event.expiration(), 1'800'000'000u);
    EXPECT_EQ(event.tag_value(event.tag(1)), "red");
  }
}

TEST(TagCursor, WalksAllTags) {
  const Packed packed = test::pack_event(
      {.tags = {
           {"relay", "wss://x.test/[\"],\\"}, {"only"}, {"", ""}, {"a", "\\", "third", "fourth"}}});
  TagCursor cursor(PackedEventView(packed.data()));
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.name(), "relay");
  EXPECT_EQ(cursor.value(), R"(wss://x.test/[\"],\\)");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.name(), "only");
  EXPECT_FALSE(cursor.has_value());
  EXPECT_EQ(cursor.value(), "");
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.name(), "");
  EXPECT_TRUE(cursor.has_value());
  ASSERT_TRUE(cursor.next());
  EXPECT_EQ(cursor.name(), "a");
  EXPECT_EQ(cursor.value(), R"(\\)");
  EXPECT_FALSE(cursor.next());
  EXPECT_FALSE(cursor.next());
}

TEST(PackedEventCheck, AcceptsWhatTheParserMade) {
  for (const test::EventDraft& draft : {kDraft, test::EventDraft{}}) {
    const Packed packed = test::pack_event(draft);
    const std::optional<PackedEventView> event = PackedEventView::check(packed);
    ASSERT_TRUE(event.has_value());
    EXPECT_EQ(event->json(), test::sign_event(draft));
  }
}

TEST(PackedEventCheck, RefusesEveryOtherLength) {
  Packed packed = test::pack_event(kDraft);
  for (std::size_t size = 0; size < packed.size(); ++size) {
    ASSERT_FALSE(PackedEventView::check({packed.data(), size}).has_value()) << size;
  }
  packed.push_back(0);
  EXPECT_FALSE(is_accepted(packed));
}

// Every byte in front of the JSON matters, and so does every byte of its fixed parts.
TEST(PackedEventCheck, NoticesChangedStructure) {
  const Packed good = test::pack_event(kDraft);
  const std::string_view json = PackedEventView(good.data()).json();
  const std::size_t json_begin = good.size() - json.size();
  const std::size_t tags = json.find("\"tags\"");
  const std::size_t sig = json.rfind("\",\"sig\"");
  for (std::size_t i = 0; i < good.size(); ++i) {
    const bool is_front = i < json_begin + tags + 8;
    const bool is_back = i >= json_begin + sig;
    if (!is_front && !is_back) continue;
    // The expiration's own value, the flag of a protected event and hex digits may be others.
    Packed bad = good;
    bad[i] ^= 0x80;
    const bool is_expiration = i >= json_begin - 8 && i < json_begin;
    EXPECT_EQ(is_accepted(bad), is_expiration) << i;
  }
}

Packed with_entry(std::uint32_t index, TagEntry entry) {
  Packed packed = test::pack_event(kDraft);
  std::memcpy(packed.data() + sizeof(PackedEventHeader) + index * sizeof entry, &entry,
              sizeof entry);
  return packed;
}

TEST(PackedEventCheck, RefusesTagEntriesThatPointElsewhere) {
  const Packed packed = test::pack_event(kDraft);
  const PackedEventView event(packed.data());
  const TagEntry good = event.tag(0);
  EXPECT_TRUE(is_accepted(with_entry(0, good)));
  const std::uint32_t letter = std::uint32_t{'d'} << 24;
  // Up to the quote before content's name, which is no part of the tags.
  const auto content_name = static_cast<std::uint32_t>(event.json().find(",\"content\"")) + 1;
  for (const TagEntry bad : {
           TagEntry{letter | (good.offset() + 1), good.value_bytes - 1},  // No quote before it.
           TagEntry{letter | good.offset(), good.value_bytes - 1},        // No quote behind it.
           TagEntry{letter | kIdOffset, 64},                              // Not in the tags.
           TagEntry{letter | good.offset(), 0x00ff'ffff},                 // Too long.
           TagEntry{letter | good.offset(), content_name - good.offset()},
           TagEntry{letter | 0x00ff'ffff, 0},                     // Outside.
           TagEntry{letter | good.offset(), TagEntry::kNoValue},  // Value or no value?
           TagEntry{(std::uint32_t{'-'} << 24) | good.offset(), good.value_bytes},  // No letter.
       }) {
    EXPECT_FALSE(is_accepted(with_entry(0, bad)))
        << bad.letter_and_offset << ' ' << bad.value_bytes;
  }
}

TEST(PackedEventCheck, RefusesHeadersThatContradictTheJson) {
  const Packed good = test::pack_event(kDraft);
  const auto changed = [&](auto change) {
    Packed packed = good;
    PackedEventHeader header;
    std::memcpy(&header, packed.data(), sizeof header);
    change(header);
    std::memcpy(packed.data(), &header, sizeof header);
    return packed;
  };
  EXPECT_TRUE(is_accepted(changed([](PackedEventHeader&) {})));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { ++h.created_at; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { ++h.kind; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { --h.content_offset; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { h.content_offset = 0xffff'ffff; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { ++h.tags_offset; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { h.tag_count = 0xffff'ffff; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { h.json_bytes = 0xffff'ffff; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { h.json_bytes = 0; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { h.flags |= 4; })));
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) { h.flags &= 0xfe; })));
  // One more entry and one fewer byte of JSON in front: the length is right, the place is not.
  EXPECT_FALSE(is_accepted(changed([](PackedEventHeader& h) {
    ++h.tag_count;
    h.json_bytes -= std::uint32_t{sizeof(TagEntry)};
  })));
}

// Under the address sanitizer this reads all that a view may read of an event of its own length.
TEST(PackedEventCheck, BoundsThatAreAcceptedHoldEveryRead) {
  const Packed sound = test::pack_event(kDraft);
  ASSERT_TRUE(PackedEventView::check_bounds(sound).has_value());
  const std::size_t json_begin = sound.size() - PackedEventView(sound.data()).json().size();
  std::size_t accepted = 0;
  for (std::size_t at = 0; at < json_begin; ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      Packed packed = sound;
      packed[at] ^= static_cast<std::uint8_t>(1 << bit);
      const auto event = PackedEventView::check_bounds(packed);
      if (!event) continue;
      ++accepted;
      const auto reads = [&](std::string_view text) {
        EXPECT_GE(reinterpret_cast<const std::uint8_t*>(text.data()), packed.data());
        EXPECT_LE(reinterpret_cast<const std::uint8_t*>(text.data()) + text.size(),
                  packed.data() + packed.size());
      };
      for (const std::string_view text :
           {event->json(), event->id_hex(), event->pubkey_hex(), event->sig_hex(),
            event->tags_json(), event->content_json()}) {
        reads(text);
      }
      for (std::uint32_t i = 0; i < event->tag_count(); ++i) {
        if (event->tag(i).has_value()) reads(event->tag_value(event->tag(i)));
      }
      EXPECT_EQ(event->total_bytes(), packed.size());
    }
  }
  EXPECT_GT(accepted, 0u);  // A changed created_at is not seen, for instance.
}

TEST(PackedEventCheck, BoundsSayNothingOfTheText) {
  Packed packed = test::pack_event(kDraft);
  packed[packed.size() - 3] = 'x';  // In the signature.
  EXPECT_TRUE(PackedEventView::check_bounds(packed).has_value());
  EXPECT_FALSE(is_accepted(packed));
  EXPECT_FALSE(PackedEventView::check_bounds({packed.data(), packed.size() - 1}).has_value());
}

// check() does not parse the tags; a cursor over broken ones must end by itself.
TEST(TagCursor, EndsWhereTagsAreBroken) {
  const Packed good = test::pack_event(kDraft);
  const std::string_view tags = PackedEventView(good.data()).tags_json();
  const auto begin =
      static_cast<std::size_t>(reinterpret_cast<const std::uint8_t*>(tags.data()) - good.data());
  for (std::size_t i = 1; i + 1 < tags.size(); ++i) {
    for (const char c : {'"', '\\', '[', ']', ',', 'x'}) {
      Packed bad = good;
      bad[begin + i] = static_cast<std::uint8_t>(c);
      TagCursor cursor(PackedEventView(bad.data()));
      std::size_t count = 0;
      while (cursor.next()) ++count;
      ASSERT_LE(count, tags.size());
    }
  }
}

}  // namespace
}  // namespace gyre::nostr

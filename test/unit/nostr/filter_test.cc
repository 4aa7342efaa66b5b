#include "gyre/nostr/filter.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gyre/nostr/client_message.h"
#include "support/event_factory.h"
#include "support/padded_text.h"

namespace gyre::nostr {
namespace {

class FilterTest : public ::testing::Test {
 protected:
  Filter filter(std::string_view text) {
    const ClientMessage& message = parser_.parse_filter(test::PaddedText(text).view());
    EXPECT_EQ(message.kind, MessageKind::kReq) << text << ' ' << message.refusal.text;
    return message.kind == MessageKind::kReq ? message.filters.front() : Filter{};
  }
  Refusal refusal(std::string_view text) {
    const ClientMessage& message = parser_.parse_filter(test::PaddedText(text).view());
    EXPECT_EQ(message.kind, MessageKind::kBadRequest) << text;
    return message.refusal;
  }
  bool matches(std::string_view text, const test::EventDraft& draft) {
    const std::vector<std::uint8_t> packed = test::pack_unsigned_event(draft);
    return filter(text).matches(PackedEventView(packed.data()));
  }

  MessageParser parser_{MessageLimits{}};
};

std::string key_list(std::uint32_t first, std::uint32_t count) {
  std::string list = "[";
  for (std::uint32_t i = 0; i < count; ++i) {
    list += (i == 0 ? "\"" : ",\"") + test::pubkey_hex(first + i) + "\"";
  }
  return list + "]";
}

TEST_F(FilterTest, ListsAreSortedAndUnique) {
  const std::string low(64, '0');
  const std::string high(64, 'f');
  const Filter parsed = filter("{\"ids\":[\"" + high + "\",\"" + low + "\",\"" + high +
                               R"("],"kinds":[7,1,7],"#t":["b","a","b"]})");
  ASSERT_EQ(parsed.ids.size(), 2u);
  EXPECT_EQ(to_hex(parsed.ids[0].bytes), low);
  EXPECT_EQ(parsed.kinds, (std::vector<std::uint16_t>{1, 7}));
  ASSERT_EQ(parsed.tags.size(), 1u);
  EXPECT_EQ(parsed.tags[0].letter, 't');
  EXPECT_EQ(parsed.tags[0].values, (std::vector<std::string>{"a", "b"}));
}

TEST_F(FilterTest, TimesAreClampedWithoutChangingTheirMeaning) {
  EXPECT_EQ(filter(R"({"since":-9223372036854775808})").since,
            std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(filter(R"({"until":18446744073709551615})").until,
            std::numeric_limits<std::int64_t>::max());
  const test::EventDraft latest{.created_at = 0x7fff'ffff'ffff'ffff};
  EXPECT_TRUE(matches(R"({"since":9223372036854775807})", latest));
  EXPECT_FALSE(matches(R"({"since":9223372036854775808})", latest));
  EXPECT_TRUE(matches(R"({"until":9223372036854775808})", latest));
  EXPECT_FALSE(matches(R"({"until":-1})", {.created_at = 0}));
  EXPECT_TRUE(matches(R"({"since":-1})", {.created_at = 0}));
}

TEST_F(FilterTest, LimitMayBeAsLargeAsItLikes) {
  EXPECT_EQ(filter(R"({"limit":0})").limit, 0u);
  EXPECT_EQ(filter(R"({"limit":18446744073709551615})").limit, ~std::uint64_t{0});
  EXPECT_EQ(filter("{}").limit, std::nullopt);
}

TEST_F(FilterTest, WhatIsMalformedIsInvalid) {
  const std::string hex63(63, 'a');
  const std::string upper(64, 'A');
  for (const std::string text : {R"({"ids":"x"})",
                                 R"({"ids":[5]})",
                                 R"({"ids":null})",
                                 R"({"authors":{}})",
                                 R"({"kinds":[1.0]})",
                                 R"({"kinds":[1e0]})",
                                 R"({"kinds":[-0]})",
                                 R"({"kinds":[null]})",
                                 R"({"kinds":[65536]})",
                                 R"({"kinds":[[1]]})",
                                 R"({"since":1.0})",
                                 R"({"since":null})",
                                 R"({"since":-9223372036854775809})",
                                 R"({"until":18446744073709551616})",
                                 R"({"until":[1]})",
                                 R"({"limit":-1})",
                                 R"({"limit":-0})",
                                 R"({"limit":null})",
                                 R"({"limit":18446744073709551616})",
                                 R"({"limit":"5"})",
                                 R"({"#t":null})",
                                 R"({"#t":[["x"]]})",
                                 R"({"#t":["\ud800"]})",
                                 R"({"#p":["abc"]})",
                                 R"({"kinds":[1],"kinds":[1]})",
                                 R"({"#t":["a"],"#t":["a"]})",
                                 R"({"limit":1,"limit":1})",
                                 R"({"since":1,"s\u0069nce":1})"}) {
    EXPECT_EQ(refusal(text).prefix, Prefix::kInvalid) << text;
  }
  EXPECT_EQ(refusal("{\"ids\":[\"" + hex63 + "\"]}").prefix, Prefix::kInvalid);
  EXPECT_EQ(refusal("{\"authors\":[\"" + upper + "\"]}").prefix, Prefix::kInvalid);
  EXPECT_EQ(refusal("{\"#e\":[\"" + upper + "\"]}").prefix, Prefix::kInvalid);
}

TEST_F(FilterTest, WhatIsUnknownIsUnsupported) {
  for (const char* text : {R"({"search":"x"})", R"({"&t":["a"]})", R"({"#alt":["a"]})",
                           R"({"#1":["a"]})", R"({"#":["a"]})", "{\"#\xc3\xa9\":[\"a\"]}",
                           R"({"":1})", R"({"Kinds":[1]})", R"({"t":["a"]})"}) {
    EXPECT_EQ(refusal(text).prefix, Prefix::kUnsupported) << text;
    EXPECT_FALSE(refusal(text).text.empty());
  }
}

TEST_F(FilterTest, AllLettersOfBothCasesAreTagNames) {
  const std::string value(64, 'c');
  for (const char letter : std::string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")) {
    const std::string name(1, letter);
    const std::string text = "{\"#" + name + "\":[\"" + value + "\"]}";
    EXPECT_TRUE(matches(text, {.tags = {{"x1", value}, {name, value}}})) << name;
    const std::string other(1, static_cast<char>(letter ^ 0x20));
    EXPECT_FALSE(matches(text, {.tags = {{other, value}, {name, "no"}}})) << name;
  }
}

TEST_F(FilterTest, EmptyListsMatchNothing) {
  for (const char* text :
       {R"({"ids":[]})", R"({"authors":[]})", R"({"kinds":[]})", R"({"#t":[]})"}) {
    EXPECT_TRUE(filter(text).matches_nothing) << text;
    EXPECT_FALSE(matches(text, {})) << text;
  }
  EXPECT_TRUE(filter(R"({"since":5,"until":4})").matches_nothing);
  EXPECT_FALSE(filter(R"({"since":5,"until":5})").matches_nothing);
  EXPECT_FALSE(filter("{}").matches_nothing);
}

TEST_F(FilterTest, ConditionsAreJoinedAndValuesAreAlternatives) {
  const test::EventDraft draft{.created_at = 100, .kind = 7, .tags = {{"t", "a"}, {"r", "b"}}};
  const std::string author = "\"authors\":" + key_list(0, 1);
  EXPECT_TRUE(
      matches("{" + author + R"(,"kinds":[1,7],"#t":["x","a"],"#r":["b"],"since":100,"until":100})",
              draft));
  EXPECT_FALSE(matches("{" + author + R"(,"kinds":[1]})", draft));
  EXPECT_FALSE(matches("{\"authors\":" + key_list(1, 1) + ",\"kinds\":[7]}", draft));
  EXPECT_FALSE(matches(R"({"#t":["a"],"#r":["a"]})", draft));
  EXPECT_FALSE(matches(R"({"since":101})", draft));
  EXPECT_FALSE(matches(R"({"until":99})", draft));
}

TEST_F(FilterTest, LongListsAreSearchedWhole) {
  const std::string authors = "{\"authors\":" + key_list(100, 60) + "}";
  for (std::uint32_t key = 95; key < 165; ++key) {
    EXPECT_EQ(matches(authors, {.key_index = key}), key >= 100 && key < 160) << key;
  }
  std::string values;
  for (int i = 0; i < 300; i += 3) values += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\"";
  for (int i = 0; i < 300; ++i) {
    ASSERT_EQ(matches("{\"#t\":[" + values + "]}", {.tags = {{"t", std::to_string(i)}}}),
              i % 3 == 0);
  }
}

TEST_F(FilterTest, IdsMatchExactly) {
  const std::string event = test::unsigned_event({.content = "x"});
  const std::string id = event.substr(kIdOffset, 64);
  EXPECT_TRUE(matches("{\"ids\":[\"" + id + "\"]}", {.content = "x"}));
  EXPECT_FALSE(matches("{\"ids\":[\"" + id + "\"]}", {.content = "y"}));
}

TEST_F(FilterTest, ValuesAreComparedAsText) {
  const test::EventDraft draft{.tags = {{"t", "a\"\n\x01/\xc3\xa9"}}};
  EXPECT_TRUE(matches(R"({"#t":["\u0061\u0022\u000A\u0001\/\u00e9"]})", draft));
  EXPECT_FALSE(matches(R"({"#t":["a"]})", draft));
  EXPECT_FALSE(matches(R"({"#t":["A\"\n\u0001/\u00e9"]})", draft));
}

TEST_F(FilterTest, OnlyTheSecondItemOfATagCounts) {
  EXPECT_FALSE(matches(R"({"#t":["red"]})", {.tags = {{"t", "x", "red"}}}));
  EXPECT_FALSE(matches(R"({"#t":[""]})", {.tags = {{"t"}}}));
  EXPECT_TRUE(matches(R"({"#t":[""]})", {.tags = {{"t", ""}}}));
}

TEST_F(FilterTest, TheEmptyAddressIsFoundWithoutItsTag) {
  const char* const empty = R"({"#d":["","x"]})";
  EXPECT_TRUE(matches(empty, {.kind = 30'023}));
  EXPECT_TRUE(matches(empty, {.kind = 30'023, .tags = {{"d"}}}));
  EXPECT_TRUE(matches(empty, {.kind = 30'023, .tags = {{"d", ""}}}));
  EXPECT_TRUE(matches(empty, {.kind = 30'023, .tags = {{"d"}, {"d", "y"}}}));
  EXPECT_FALSE(matches(empty, {.kind = 30'023, .tags = {{"d", "y"}}}));
  EXPECT_FALSE(matches(empty, {.kind = 1}));
  EXPECT_FALSE(matches(empty, {.kind = 1, .tags = {{"d"}}}));
  EXPECT_FALSE(matches(R"({"#d":["x"]})", {.kind = 30'023}));
}

TEST_F(FilterTest, LimitsOfAFilterAreExact) {
  parser_ = MessageParser({.filter_values_max = 3, .filter_tags_max = 2});
  EXPECT_EQ(filter(R"({"kinds":[1,2,3]})").kinds.size(), 3u);
  EXPECT_EQ(refusal(R"({"kinds":[1,1,1,1]})").prefix, Prefix::kInvalid);
  EXPECT_EQ(filter(R"({"#a":["1","2","3"],"#b":["1"]})").tags.size(), 2u);
  EXPECT_EQ(refusal(R"({"#a":["1","2","3","4"]})").prefix, Prefix::kInvalid);
  EXPECT_EQ(refusal(R"({"#a":["1"],"#b":["1"],"#c":["1"]})").prefix, Prefix::kInvalid);
  EXPECT_EQ(filter("{\"authors\":" + key_list(0, 3) + "}").authors.size(), 3u);
  EXPECT_EQ(refusal("{\"authors\":" + key_list(0, 4) + "}").prefix, Prefix::kInvalid);
}

}  // namespace
}  // namespace gyre::nostr

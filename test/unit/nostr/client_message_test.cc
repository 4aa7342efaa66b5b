#include "gyre/nostr/client_message.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "gyre/nostr/verify.h"
#include "support/event_factory.h"
#include "support/padded_text.h"

namespace gyre::nostr {
namespace {

const std::string kAnyId(64, 'a');

class ClientMessageTest : public ::testing::Test {
 protected:
  const ClientMessage& parse(std::string_view text) {
    const test::PaddedText padded(text);
    return parser_.parse(padded.view());
  }
  const ClientMessage& parse_limited(const MessageLimits& limits, std::string_view text) {
    parser_ = MessageParser(limits);
    return parse(text);
  }

  MessageParser parser_{MessageLimits{}};
};

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string event_message(const test::EventDraft& draft) {
  return "[\"EVENT\"," + test::unsigned_event(draft) + "]";
}

// An event object with one more member.
std::string with_member(const std::string& member) {
  return replaced(test::unsigned_event({}), "{", "{" + member + ",");
}

TEST_F(ClientMessageTest, EventIsPackedAndServedAsItWasSigned) {
  const std::string event = test::sign_event({.tags = {{"t", "x"}}, .content = "hello\n"});
  const ClientMessage& message = parse("[\"EVENT\"," + event + "]");
  ASSERT_EQ(message.kind, MessageKind::kEvent);
  EXPECT_EQ(message.event.json(), event);
  EXPECT_TRUE(PackedEventView::check(message.event.bytes()).has_value());
}

TEST_F(ClientMessageTest, AuthIsReadAsAnEventOfAnyKind) {
  const ClientMessage& message = parse("[\"AUTH\"," + test::sign_event({.kind = 22242}) + "]");
  ASSERT_EQ(message.kind, MessageKind::kAuth);
  EXPECT_EQ(message.event.kind(), 22242);
  EXPECT_EQ(parse("[\"AUTH\"," + test::sign_event({}) + "]").kind, MessageKind::kAuth);
  EXPECT_EQ(parse("[\"AUTH\",5]").kind, MessageKind::kBad);
  EXPECT_EQ(parse("[\"AUTH\",\"challenge\"]").kind, MessageKind::kBad);
  const ClientMessage& bad = parse("[\"AUTH\",{\"id\":\"" + kAnyId + "\"}]");
  EXPECT_EQ(bad.kind, MessageKind::kBadEvent);
  EXPECT_EQ(bad.event_id, kAnyId);
}

TEST_F(ClientMessageTest, MembersMayStandInAnyOrder) {
  const std::string event = test::sign_event({.tags = {{"p", "q"}, {"d"}}, .content = "c\\"});
  const PackedEventView expected = parse("[\"EVENT\"," + event + "]").event;
  const std::vector<std::uint8_t> bytes(expected.bytes().begin(), expected.bytes().end());
  // Cut into the seven members.
  std::vector<std::string> members;
  const std::string_view names[] = {"\"id\"",   "\"pubkey\"",  "\"created_at\"", "\"kind\"",
                                    "\"tags\"", "\"content\"", "\"sig\""};
  for (std::size_t i = 0; i < 7; ++i) {
    const std::size_t begin = event.find(names[i]);
    const std::size_t end = i == 6 ? event.size() - 1 : event.find(names[i + 1]) - 1;
    members.push_back(event.substr(begin, end - begin));
  }
  for (std::size_t rotation = 0; rotation < 7; ++rotation) {
    for (const bool reverse : {false, true}) {
      std::string text = "[\"EVENT\",{";
      for (std::size_t i = 0; i < 7; ++i) {
        const std::size_t place = (reverse ? 6 - i : i) + rotation;
        text += (i == 0 ? " " : "\t,\n") + members[place % 7];
      }
      const ClientMessage& message = parse(text + "\r} ]");
      ASSERT_EQ(message.kind, MessageKind::kEvent) << text;
      const ByteSpan got = message.event.bytes();
      ASSERT_TRUE(std::equal(got.begin(), got.end(), bytes.begin(), bytes.end())) << text;
    }
  }
}

TEST_F(ClientMessageTest, MemberNamesAndHexMayBeEscaped) {
  std::string event = test::sign_event({});
  const std::string plain = event;
  event = replaced(event, "\"kind\"", "\"\\u006bind\"");
  event = replaced(event, "\"id\":\"", "\"id\":\"\\u00");
  // The first digit of the id as an escape.
  const std::size_t digit = event.find("\\u00") + 4;
  char hex[3];
  std::snprintf(hex, sizeof hex, "%02x", static_cast<unsigned>(event[digit]));
  event.replace(digit, 1, hex);
  const ClientMessage& message = parse("[\"\\u0045VENT\"," + event + "]");
  ASSERT_EQ(message.kind, MessageKind::kEvent) << event;
  EXPECT_EQ(message.event.json(), plain);
}

TEST_F(ClientMessageTest, UnknownMembersAreDropped) {
  const std::string event =
      with_member(R"("seen_on":["wss://x"],"nested":{"a":[{"b":null}],"id":"no"},"n":1e400)");
  const ClientMessage& message = parse("[\"EVENT\"," + event + "]");
  ASSERT_EQ(message.kind, MessageKind::kEvent);
  EXPECT_EQ(message.event.json(), test::unsigned_event({}));
}

TEST_F(ClientMessageTest, UnknownMembersAreCheckedAllTheSame) {
  for (const char* value : {"[1,]", "{\"a\"}", "[1}", "tru", "01", "\"\\x\"", "[\"a\"\"b\"]", "1.",
                            "{\"a\":1,}", "{,}", "[}", "nul]"}) {
    EXPECT_EQ(parse("[\"EVENT\"," + with_member(std::string("\"x\":") + value) + "]").kind,
              MessageKind::kBad)
        << value;
  }
  const ClientMessage& half = parse("[\"EVENT\"," + with_member(R"("x":["\ud800"])") + "]");
  EXPECT_EQ(half.kind, MessageKind::kBadEvent);
}

TEST_F(ClientMessageTest, RepeatedMembersAreRefused) {
  for (const char* member : {"\"kind\":1", "\"tags\":[]", "\"content\":\"\"", "\"\\u006bind\":1",
                             "\"x\":1,\"x\":1", "\"x\":1,\"\\u0078\":2"}) {
    const ClientMessage& message = parse("[\"EVENT\"," + with_member(member) + "]");
    EXPECT_EQ(message.kind, MessageKind::kBadEvent) << member;
    EXPECT_EQ(message.refusal.prefix, Prefix::kInvalid);
  }
}

TEST_F(ClientMessageTest, NestingIsBoundedForTheWholeMessage) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  // The message and the event are two of the sixteen levels.
  EXPECT_EQ(parse("[\"EVENT\"," + with_member("\"x\":" + nested(14)) + "]").kind,
            MessageKind::kEvent);
  const ClientMessage& deep = parse("[\"EVENT\"," + with_member("\"x\":" + nested(15)) + "]");
  EXPECT_EQ(deep.kind, MessageKind::kBadEvent);
  EXPECT_EQ(deep.event_id.size(), 64u);
  EXPECT_EQ(parse("[\"CLOSE\",\"a\"," + nested(15) + "]").kind, MessageKind::kClose);
  EXPECT_EQ(parse("[\"CLOSE\",\"a\"," + nested(16) + "]").kind, MessageKind::kBad);
  EXPECT_EQ(parse("[\"EVENT\"," + with_member("\"x\":" + nested(100'000)) + "]").kind,
            MessageKind::kBad);
  EXPECT_EQ(parse(std::string(100'000, '[')).kind, MessageKind::kBad);
  std::string objects;
  for (int i = 0; i < 50'000; ++i) objects += "{\"a\":";
  EXPECT_EQ(parse("[\"EVENT\"," + objects).kind, MessageKind::kBad);
}

TEST_F(ClientMessageTest, TheIdIsFoundForTheAnswerWhereverItStands) {
  const ClientMessage& message = parse(
      "[\"EVENT\",{\"kind\":true,\"x\":{\"id\":\"no\"},\"tags\":[[\"id\",\"no\"]],\"id\":\"yes\"}"
      "]");
  EXPECT_EQ(message.kind, MessageKind::kBadEvent);
  EXPECT_EQ(message.event_id, "yes");
}

TEST_F(ClientMessageTest, TheIdIsEchoedAsSentUpTo128Bytes) {
  const auto with_id = [&](const std::string& id) -> const ClientMessage& {
    return parse("[\"EVENT\",{\"id\":\"" + id + "\"}]");
  };
  EXPECT_EQ(with_id(std::string(128, 'g')).kind, MessageKind::kBadEvent);
  EXPECT_EQ(with_id(std::string(128, 'g')).event_id, std::string(128, 'g'));
  EXPECT_EQ(with_id(std::string(129, 'g')).kind, MessageKind::kBad);
  EXPECT_EQ(with_id("").kind, MessageKind::kBadEvent);
  EXPECT_EQ(with_id("").event_id, "");
  EXPECT_EQ(with_id(R"(\u0041\"\u0009\/)").event_id, R"(A\"\t/)");
  EXPECT_EQ(with_id(R"(\ud800)").kind, MessageKind::kBad);
  EXPECT_EQ(parse("[\"EVENT\",{\"id\":5}]").kind, MessageKind::kBad);
  EXPECT_EQ(parse("[\"EVENT\",{}]").kind, MessageKind::kBad);
}

TEST_F(ClientMessageTest, SurrogatesWithoutPartnersAreRefusedForThatEvent) {
  for (const char* content : {R"(\ud800)", R"(\udc00\ud800)", R"(a\uD83Dz)"}) {
    const std::string text = replaced(event_message({.content = "@"}), "@", content);
    EXPECT_EQ(parse(text).kind, MessageKind::kBadEvent) << content;
  }
  const std::string tag = replaced(event_message({.tags = {{"t", "@"}}}), "@", R"(\ude00)");
  EXPECT_EQ(parse(tag).kind, MessageKind::kBadEvent);
  const std::string extra = "[\"EVENT\"," + test::unsigned_event({}) + ",\"\\ud800\"]";
  EXPECT_EQ(parse(extra).kind, MessageKind::kBadEvent);
}

TEST_F(ClientMessageTest, AWrongIdIsRefused) {
  const std::string text = event_message({.content = "abc"});
  const ClientMessage& message = parse(replaced(text, "abc", "abd"));
  EXPECT_EQ(message.kind, MessageKind::kBadEvent);
  EXPECT_EQ(message.refusal.prefix, Prefix::kInvalid);
  EXPECT_EQ(text.find(message.event_id), text.find("\"id\"") + 6);
}

TEST_F(ClientMessageTest, ExpirationMustBeAPlainNumber) {
  const auto kind_with = [&](std::vector<std::vector<std::string>> tags, std::uint16_t kind = 1) {
    return parse(event_message({.kind = kind, .tags = std::move(tags)})).kind;
  };
  EXPECT_EQ(kind_with({{"expiration", "0"}}), MessageKind::kEvent);
  EXPECT_EQ(kind_with({{"expiration", "9223372036854775807"}}), MessageKind::kEvent);
  for (const char* value : {"9223372036854775808", "-1", "", "1.5", " 1", "1 ", "01", "0x10",
                            "soon", "1e9", "99999999999999999999999999"}) {
    EXPECT_EQ(kind_with({{"expiration", value}}), MessageKind::kBadEvent) << value;
    EXPECT_EQ(kind_with({{"expiration", value}}, 20'001), MessageKind::kEvent) << value;
  }
  EXPECT_EQ(kind_with({{"expiration"}}), MessageKind::kBadEvent);
  // The first one counts.
  EXPECT_EQ(kind_with({{"expiration", "5"}, {"expiration", "soon"}}), MessageKind::kEvent);
  EXPECT_EQ(kind_with({{"expiration", "soon"}, {"expiration", "5"}}), MessageKind::kBadEvent);
  EXPECT_EQ(
      parser_
          .parse(test::PaddedText(event_message({.kind = 20'001, .tags = {{"expiration", "x"}}}))
                     .view())
          .event.expiration(),
      std::nullopt);
}

TEST_F(ClientMessageTest, LimitsOfAnEventAreExact) {
  const std::string three_tags = event_message({.tags = {{"a"}, {"bb"}, {"c"}}});
  EXPECT_EQ(parse_limited({.event_tags_max = 3}, three_tags).kind, MessageKind::kEvent);
  EXPECT_EQ(parse_limited({.event_tags_max = 2}, three_tags).kind, MessageKind::kBadEvent);
  // Four characters: a letter, a quote, a control and an emoji.
  const std::string content = event_message({.content = "a\"\x01\xf0\x9f\x98\x80"});
  EXPECT_EQ(parse_limited({.content_chars_max = 4}, content).kind, MessageKind::kEvent);
  EXPECT_EQ(parse_limited({.content_chars_max = 3}, content).kind, MessageKind::kBadEvent);
  const auto size = static_cast<std::uint32_t>(content.size());
  EXPECT_EQ(parse_limited({.message_bytes_max = size}, content).kind, MessageKind::kEvent);
  EXPECT_EQ(parse_limited({.message_bytes_max = size - 1}, content).kind, MessageKind::kBad);
}

TEST_F(ClientMessageTest, LargeEventsFitTheBuffers) {
  MessageLimits limits;
  test::EventDraft draft;
  for (std::uint32_t i = 0; i < limits.event_tags_max; ++i) draft.tags.push_back({"t", "\n"});
  draft.content = std::string(300'000, '"').substr(0, 200'000);
  const std::string text = event_message(draft);
  ASSERT_LE(text.size(), limits.message_bytes_max);
  const ClientMessage& message = parse(text);
  ASSERT_EQ(message.kind, MessageKind::kEvent);
  EXPECT_EQ(message.event.tag_count(), limits.event_tags_max);
  EXPECT_EQ(message.event.json().size() + 10, text.size());
}

TEST_F(ClientMessageTest, ReqCarriesFilters) {
  const ClientMessage& message = parse(R"(["REQ","sub\/1",{"kinds":[1]},{}])");
  ASSERT_EQ(message.kind, MessageKind::kReq);
  EXPECT_EQ(message.subscription_id, "sub/1");
  ASSERT_EQ(message.filters.size(), 2u);
  EXPECT_EQ(message.filters[0].kinds, std::vector<std::uint16_t>{1});
  EXPECT_FALSE(message.filters[1].has_kinds());
  EXPECT_EQ(parse(R"(["COUNT","q",{}])").kind, MessageKind::kCount);
}

TEST_F(ClientMessageTest, FiltersOfOneMessageAreGoneWithTheNext) {
  ASSERT_EQ(parse(R"(["REQ","s",{},{},{}])").filters.size(), 3u);
  ASSERT_EQ(parse(R"(["REQ","s",{}])").filters.size(), 1u);
  EXPECT_TRUE(parse(R"(["CLOSE","s"])").filters.empty());
  EXPECT_TRUE(parse(R"(["REQ","s",{},{"kinds":1}])").filters.empty());
}

TEST_F(ClientMessageTest, SubscriptionIdsHaveOneTo64CodePoints) {
  const auto req = [&](const std::string& id) -> const ClientMessage& {
    return parse("[\"REQ\",\"" + id + "\",{}]");
  };
  std::string emoji;
  for (int i = 0; i < 64; ++i) emoji += "\xf0\x9f\x98\x80";
  EXPECT_EQ(req(emoji).kind, MessageKind::kReq);
  EXPECT_EQ(req(emoji).subscription_id, emoji);
  EXPECT_EQ(req("").kind, MessageKind::kBadRequest);
  EXPECT_EQ(req("").subscription_id, "");
  EXPECT_EQ(req(std::string(65, 'x')).kind, MessageKind::kBadRequest);
  EXPECT_EQ(req(std::string(65, 'x')).subscription_id, std::string(65, 'x'));
  EXPECT_EQ(req(std::string(256, 'x')).kind, MessageKind::kBadRequest);
  EXPECT_EQ(req(std::string(257, 'x')).kind, MessageKind::kBad);
  // Escapes count as what they stand for.
  std::string escapes;
  for (int i = 0; i < 64; ++i) escapes += "\\u0001";
  EXPECT_EQ(req(escapes).kind, MessageKind::kReq);
  EXPECT_EQ(req(escapes + "\\n").kind, MessageKind::kBad);  // 386 bytes cannot be echoed.
  EXPECT_EQ(req("\\ud800").kind, MessageKind::kBad);
}

TEST_F(ClientMessageTest, BadFiltersAreAnsweredByTheSubscriptionId) {
  for (const char* text :
       {R"(["REQ","s"])", R"(["REQ","s",5])", R"(["REQ","s",null])", R"(["REQ","s",{},[]])",
        R"(["COUNT","s"])", R"(["COUNT","s",{"kinds":1}])", R"(["REQ","s",{"\ud800":1}])"}) {
    const ClientMessage& message = parse(text);
    EXPECT_EQ(message.kind, MessageKind::kBadRequest) << text;
    EXPECT_EQ(message.subscription_id, "s");
    EXPECT_EQ(message.refusal.prefix, Prefix::kInvalid);
  }
  EXPECT_EQ(parse(R"(["REQ","s",{"search":"x"}])").refusal.prefix, Prefix::kUnsupported);
  EXPECT_EQ(parse_limited({.filters_max = 2}, R"(["REQ","s",{},{}])").kind, MessageKind::kReq);
  EXPECT_EQ(parse_limited({.filters_max = 2}, R"(["REQ","s",{},{},{}])").kind,
            MessageKind::kBadRequest);
}

TEST_F(ClientMessageTest, CloseTakesAnyString) {
  EXPECT_EQ(parse(R"(["CLOSE","s"])").subscription_id, "s");
  EXPECT_EQ(parse(R"(["CLOSE",""])").kind, MessageKind::kClose);
  EXPECT_EQ(parse(R"(["CLOSE","s",{"ignored":[true]},7])").kind, MessageKind::kClose);
  const ClientMessage& message = parse("[\"CLOSE\",\"" + std::string(10'000, 'x') + "\"]");
  EXPECT_EQ(message.kind, MessageKind::kClose);
  EXPECT_EQ(message.subscription_id.size(), 10'000u);
  EXPECT_EQ(parse(R"(["CLOSE",5])").kind, MessageKind::kBad);
}

TEST_F(ClientMessageTest, WhatNamesNobodyIsBad) {
  for (const char* text : {"",
                           " ",
                           "[]",
                           "{}",
                           "null",
                           "\"EVENT\"",
                           "5",
                           "[5]",
                           "[[]]",
                           "[\"EVENT\"]",
                           "[\"EVENT\",null]",
                           "[\"EVENT\",[]]",
                           "[\"event\",{}]",
                           "[\"EVENT \",{}]",
                           "[\"NOPE\",1]",
                           "[\"\",1]",
                           "[\"REQ\"]",
                           "[\"REQ\",5,{}]",
                           "[\"REQ\",null,{}]",
                           "[\"CLOSE\"]",
                           "[\"COUNT\"]",
                           "[\"AUTH\"]",
                           "[\"NEG-OPEN\",\"s\",{},\"61\"]",
                           "[\"NEG-MSG\",\"s\",\"61\"]",
                           "[\"NEG-CLOSE\",\"s\"]",
                           "[\"EV\\ud800ENT\",{}]"}) {
    const ClientMessage& message = parse(text);
    EXPECT_EQ(message.kind, MessageKind::kBad) << text;
    EXPECT_EQ(message.refusal.prefix, Prefix::kInvalid) << text;
    EXPECT_FALSE(message.refusal.text.empty()) << text;
  }
  EXPECT_EQ(parse("[\"EVENT\",\"sub\"," + test::unsigned_event({}) + "]").kind, MessageKind::kBad);
}

// Each of these is a good message with one thing wrong with it as JSON.
TEST_F(ClientMessageTest, WhatIsNoJsonIsBadWhateverItSays) {
  const std::string good = event_message({.content = "text"});
  ASSERT_EQ(parse(good).kind, MessageKind::kEvent);
  std::vector<std::string> bad = {
      good + "]",
      good + good,
      good + ",",
      good + " x",
      good + "\v",
      "\xef\xbb\xbf" + good,
      good.substr(0, good.size() - 1),
      good.substr(0, good.size() - 2) + "]",
      "[" + good,
  };
  bad.push_back(replaced(good, "\"tags\":[]", "\"tags\":[],"));
  bad.push_back(replaced(good, "\"tags\":[]", "\"tags\":[,]"));
  bad.push_back(replaced(good, "\"tags\":[]", "\"tags\" []"));
  bad.push_back(replaced(good, "\"tags\":[]", "\"tags\"::[]"));
  bad.push_back(replaced(good, "\"kind\":1", "\"kind\":01"));
  bad.push_back(replaced(good, "\"kind\":1", "\"kind\":1\"x\""));
  bad.push_back(replaced(good, "\"kind\":1", "\"kind\":NaN"));
  bad.push_back(replaced(good, "\"kind\":1", "\"kind\":1/**/"));
  bad.push_back(replaced(good, "\"kind\":1", "kind:1"));
  bad.push_back(replaced(good, "\"text\"", "'text'"));
  bad.push_back(replaced(good, "\"text\"", "\"text\"\"text\""));
  bad.push_back(replaced(good, "\"text\"", "\"text\"x"));
  bad.push_back(replaced(good, "\"text\"", "\"te\nxt\""));
  bad.push_back(replaced(good, "\"text\"", "\"te\\xxt\""));
  bad.push_back(replaced(good, "\"text\"", std::string("\"te\0xt\"", 7)));
  bad.push_back(replaced(good, "\"text\"", std::string("\"text\"\0", 7)));
  bad.push_back(replaced(good, "]", "},{\"a\":[]]"));
  for (const std::string& text : bad) {
    EXPECT_EQ(parse(text).kind, MessageKind::kBad) << text;
    EXPECT_EQ(parse(text).refusal.text, "not valid JSON") << text;
  }
}

TEST_F(ClientMessageTest, ElementsBehindTheEventAreIgnoredButMustBeJson) {
  const std::string event = test::unsigned_event({});
  EXPECT_EQ(parse("[\"EVENT\"," + event + ",{\"x\":[1,2.5e3,null]},\"y\"]").kind,
            MessageKind::kEvent);
  for (const char* extra :
       {",\"a\":1", ",\"a\":[]", ",", ",}", ",nul", ",[1,]", ",{\"a\":1", ",1 2", ",{\"a\":[}]"}) {
    EXPECT_EQ(parse("[\"EVENT\"," + event + extra + "]").kind, MessageKind::kBad) << extra;
  }
}

TEST_F(ClientMessageTest, TextEndsWhereItEndsWhateverFollows) {
  const std::string good = event_message({.tags = {{"t", "x"}}, .content = "text"});
  for (const char padding : {']', '}', '"', ',', ':', '[', '{', '\\', '1', ' ', 'x', '\xff'}) {
    EXPECT_EQ(parser_.parse(test::PaddedText(good, padding).view()).kind, MessageKind::kEvent)
        << padding;
    for (std::size_t size = 0; size < good.size(); ++size) {
      const test::PaddedText cut(std::string_view(good).substr(0, size), padding);
      ASSERT_EQ(parser_.parse(cut.view()).kind, MessageKind::kBad) << size << padding;
    }
    const test::PaddedText unclosed(R"(["REQ","s",{"ids":[]}")", padding);
    ASSERT_EQ(parser_.parse(unclosed.view()).kind, MessageKind::kBad) << padding;
  }
}

TEST_F(ClientMessageTest, OneEventAloneIsParsed) {
  const std::string event = test::sign_event({});
  const auto kind = [&](std::string_view text) {
    return parser_.parse_event(test::PaddedText(text).view()).kind;
  };
  EXPECT_EQ(kind(event), MessageKind::kEvent);
  EXPECT_EQ(kind(" " + event + "\r\n"), MessageKind::kEvent);
  EXPECT_EQ(kind(replaced(event, "\"kind\":1", "\"kind\":2")), MessageKind::kBadEvent);
  EXPECT_EQ(kind(replaced(event, "\"kind\":1", "\"kind\":2") + "x"), MessageKind::kBad);
  EXPECT_EQ(kind(event + "x"), MessageKind::kBad);
  EXPECT_EQ(kind(event + "}"), MessageKind::kBad);
  EXPECT_EQ(kind("{\"id\":"), MessageKind::kBad);
  EXPECT_EQ(kind("{\"id\":\"a\"}"), MessageKind::kBadEvent);
  EXPECT_EQ(kind("[]"), MessageKind::kBad);
  EXPECT_EQ(kind("\"id\""), MessageKind::kBad);
  EXPECT_EQ(kind(""), MessageKind::kBad);
  EXPECT_EQ(kind("\xef\xbb\xbf" + event), MessageKind::kBad);
}

TEST_F(ClientMessageTest, OneFilterAloneIsParsed) {
  const auto kind = [&](std::string_view text) {
    return parser_.parse_filter(test::PaddedText(text).view()).kind;
  };
  EXPECT_EQ(kind(R"({"kinds":[1,2]})"), MessageKind::kReq);
  EXPECT_EQ(parser_.parse_filter(test::PaddedText("{}").view()).filters.size(), 1u);
  EXPECT_EQ(kind(R"({"kinds":1})"), MessageKind::kBadRequest);
  EXPECT_EQ(kind("null"), MessageKind::kBadRequest);
  EXPECT_EQ(kind("[]"), MessageKind::kBadRequest);
  EXPECT_EQ(kind("{"), MessageKind::kBad);
  EXPECT_EQ(kind("{} {}"), MessageKind::kBad);
  EXPECT_EQ(kind(""), MessageKind::kBad);
}

TEST_F(ClientMessageTest, AParserCanBeMoved) {
  MessageParser moved = std::move(parser_);
  EXPECT_EQ(moved.parse(test::PaddedText(R"(["CLOSE","s"])").view()).kind, MessageKind::kClose);
  parser_ = std::move(moved);
  EXPECT_EQ(parse(R"(["CLOSE","s"])").kind, MessageKind::kClose);
}

}  // namespace
}  // namespace gyre::nostr

#include "gyre/nostr/nson.h"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "support/allocation_counter.h"
#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

// Written by go-nostr, whose size counts bytes, and signed with the secret key 1: "hello", two tags
// with texts beyond ASCII, a line feed, a tab.
std::vector<std::string> go_nostr_events() {
  std::ifstream file(std::string(GYRE_TEST_VECTORS) + "/nson.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), 4u);
  return lines;
}

Event sample() {
  Event event;
  EXPECT_EQ(parse_event(test::sign_event({
                            .created_at = 1'767'225'600,
                            .kind = 30'023,
                            .tags = {{"d", "with \"quotes\""}, {"t", "", "back\\slash\n"}, {"x"}},
                            .content = "line\nand \"quote\" \u00e9\U0001f355",
                        }),
                        event),
            DecodeError::kNone);
  return event;
}

std::string nson_of(const Event& event) {
  std::string out;
  EXPECT_EQ(append_nson(event, out), DecodeError::kNone);
  return out;
}

TEST(Nson, ReadsWhatAnotherProgramWrote) {
  for (const std::string& text : go_nostr_events()) {
    Event event;
    ASSERT_EQ(parse_nson(text, event), DecodeError::kNone) << text;
    EXPECT_TRUE(has_valid_signature(event));
    Event plain;
    ASSERT_EQ(parse_event(text, plain), DecodeError::kNone);
    EXPECT_EQ(event, plain);
    if (event.content == "x\ty") {
      // The draft has no escape for it; one who was sent it reads it all the same.
      std::string out;
      EXPECT_EQ(append_nson(event, out), DecodeError::kBadCharacter);
      continue;
    }
    // Ours differs in the size alone, which counts characters.
    std::string expected = text;
    const int bytes = std::stoi(text.substr(318, 2), nullptr, 16);
    const auto size = static_cast<std::uint8_t>(2 * bytes);
    expected.replace(318, 2, to_hex({&size, 1}));
    EXPECT_EQ(nson_of(event), expected);
    ASSERT_EQ(parse_nson(expected, plain), DecodeError::kNone);
    EXPECT_EQ(event, plain);
  }
}

TEST(Nson, ComesBackAsItWasByEitherReader) {
  const Event event = sample();
  const std::string text = nson_of(event);
  Event back;
  back.tags = {{"left", "over"}};
  ASSERT_EQ(parse_nson(text, back), DecodeError::kNone);
  EXPECT_EQ(back, event);
  ASSERT_EQ(parse_event(text, back), DecodeError::kNone);
  EXPECT_EQ(back, event);
}

TEST(Nson, SingleMembersNeedNoFullReading) {
  const Event event = sample();
  const std::string text = nson_of(event);
  const std::optional<NsonView> view = NsonView::open(text);
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->id(), event.id);
  EXPECT_EQ(view->pubkey(), event.pubkey);
  EXPECT_EQ(view->sig(), event.sig);
  EXPECT_EQ(view->created_at(), event.created_at);
  EXPECT_EQ(view->kind(), event.kind);
  std::string content;
  EXPECT_EQ(view->content(content), DecodeError::kNone);
  EXPECT_EQ(content, event.content);
}

TEST(Nson, WhatHasNoFormIsNotWritten) {
  const Event good = sample();
  std::string out = "as it was";
  Event event = good;
  event.created_at = 999'999'999;
  EXPECT_EQ(append_nson(event, out), DecodeError::kBadNumber);
  event = good;
  event.content += '\t';
  EXPECT_EQ(append_nson(event, out), DecodeError::kBadCharacter);
  event = good;
  event.tags.append({"x", std::string(1, '\x7f'), std::string(1, '\0')});
  EXPECT_EQ(append_nson(event, out), DecodeError::kBadCharacter);
  event = good;
  event.content.assign(40'000, '"');
  EXPECT_EQ(append_nson(event, out), DecodeError::kTooLong);
  event = good;
  event.tags.clear();
  // Four descriptors in front, three a tag: 41 tags are 127.
  for (int i = 0; i < 41; ++i) event.tags.append({"x"});
  EXPECT_EQ(append_nson(event, out), DecodeError::kNone);
  out = "as it was";
  event.tags.append({"x"});
  EXPECT_EQ(append_nson(event, out), DecodeError::kTooLong);
  EXPECT_EQ(out, "as it was");
}

TEST(Nson, NothingIsTakenThatPlainJsonReadsDifferently) {
  const std::string text = nson_of(sample());
  int taken = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char c : {'"', '\\', '[', ']', ',', '0', '1', '2', 'f', 'z', '\n'}) {
      std::string changed = text;
      changed[at] = c;
      Event event;
      if (parse_nson(changed, event) != DecodeError::kNone) continue;
      Event plain;
      ASSERT_EQ(parse_event(changed, plain), DecodeError::kNone) << changed;
      ASSERT_EQ(event, plain) << changed;
      ++taken;
    }
  }
  // Where the change changes nothing, and in the signature.
  EXPECT_GT(taken, 100);
}

TEST(Nson, NoFrontIsTakenForAWhole) {
  const std::string text = nson_of(sample());
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes) {
    const std::vector<char> front(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(bytes));
    Event event;
    EXPECT_NE(parse_nson({front.data(), bytes}, event), DecodeError::kNone);
    const auto view = NsonView::open({front.data(), bytes});
    std::string content;
    if (view) {
      EXPECT_EQ(view->content(content), DecodeError::kNone);
    }
  }
}

TEST(Nson, DescriptorsThatLieAreFoundOut) {
  // The content ends one byte early, and late; the size is that of nothing.
  for (const char* const descriptors :
       {"0401000400", "0401000600", "0501000500", "0402000500", "04010005010", "0401000501",
        "0001000500", "0400000500", "040100FF00", "04ffffffff"}) {
    std::string text = go_nostr_events().front();
    text.replace(318, 10, descriptors);
    Event event;
    EXPECT_EQ(parse_nson(text, event), DecodeError::kBadDescriptor) << descriptors;
    EXPECT_FALSE(NsonView::open(text).has_value()) << descriptors;
    // As plain JSON it is right all the same.
    EXPECT_EQ(parse_nson_or_json(text, event), DecodeError::kNone) << descriptors;
    EXPECT_EQ(event.content, "hello");
  }
}

TEST(Nson, MembersBehindTheTagsAreDropped) {
  const Event event = sample();
  const std::string text = nson_of(event);
  const std::string front = text.substr(0, text.size() - 1);
  Event back;
  EXPECT_EQ(parse_nson(front + ",\"seen\":[\"wss://r\"]}", back), DecodeError::kNone);
  EXPECT_EQ(back, event);
  for (const char* const end :
       {",\"content\":\"other\"}", ",\"nson\":\"\"}", ",}", "} ", "}}", ""}) {
    const DecodeError error = parse_nson(front + end, back);
    EXPECT_EQ(error == DecodeError::kNone, std::string_view(end) == "} ") << end;
  }
}

TEST(Nson, AWrongIdIsRefusedInBothForms) {
  std::string text = go_nostr_events().front();
  text.replace(text.find("hello"), 5, "hallo");
  Event event;
  EXPECT_EQ(parse_nson(text, event), DecodeError::kWrongId);
  EXPECT_EQ(parse_nson_or_json(text, event), DecodeError::kWrongId);
  const std::string json = test::sign_event({.content = "x"});
  EXPECT_EQ(parse_nson(json, event), DecodeError::kNotNson);
  EXPECT_FALSE(has_nson_mark(json));
  EXPECT_EQ(parse_nson_or_json(json, event), DecodeError::kNone);
  EXPECT_EQ(event.content, "x");
}

TEST(Nson, UsedAgainItAllocatesNothing) {
  const Event event = sample();
  std::string text;
  Event back;
  const auto work = [&] {
    text.clear();
    EXPECT_EQ(append_nson(event, text), DecodeError::kNone);
    EXPECT_EQ(parse_nson(text, back), DecodeError::kNone);
  };
  work();
  EXPECT_EQ(test::allocations_of(work).count, 0u);
}

}  // namespace
}  // namespace gyre::nostr

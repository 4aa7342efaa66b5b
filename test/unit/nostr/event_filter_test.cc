#include "gyre/nostr/event_filter.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "gyre/nostr/client_message.h"
#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

Bytes32 filled(std::uint8_t value) {
  Bytes32 bytes;
  bytes.bytes.fill(value);
  return bytes;
}

EventFilter full_filter() {
  EventFilter filter;
  filter.ids = {filled(2), filled(1)};
  filter.authors = {filled(9)};
  filter.kinds = {30'023, 0, 1};
  filter.tags.append({"t", "b", "a\"\n"});
  filter.tags.append({"A", "x"});
  filter.since = -5;
  filter.until = 1'767'225'600;
  filter.limit = 18'446'744'073'709'551'615u;
  filter.search = "two \"words\"";
  return filter;
}

std::string json_of(const EventFilter& filter) {
  std::string out;
  append_json(filter, out);
  EXPECT_EQ(out.size(), json_bytes(filter));
  return out;
}

TEST(EventFilter, IsWrittenInOneOrderOnceItIsSorted) {
  EventFilter filter = full_filter();
  sort(filter);
  EXPECT_EQ(json_of(filter),
            "{\"ids\":[\"" + to_hex(filled(1).bytes) + "\",\"" + to_hex(filled(2).bytes) +
                "\"],\"kinds\":[0,1,30023],\"authors\":[\"" + to_hex(filled(9).bytes) +
                "\"],\"#A\":[\"x\"],\"#t\":[\"a\\\"\\n\",\"b\"],\"since\":-5,"
                "\"until\":1767225600,\"search\":\"two \\\"words\\\"\","
                "\"limit\":18446744073709551615}");
}

TEST(EventFilter, ComesBackAsItWas) {
  EventFilter empty_lists;
  empty_lists.ids.is_present = true;
  empty_lists.kinds.is_present = true;
  empty_lists.tags.append({"e"});
  for (const EventFilter& filter : {EventFilter{}, empty_lists}) {
    EventFilter back = full_filter();
    ASSERT_EQ(parse_filter(json_of(filter), back), DecodeError::kNone) << json_of(filter);
    EXPECT_EQ(back, filter) << json_of(filter);
  }
  // Tags come in the order of their letters.
  EventFilter filter = full_filter();
  EventFilter back;
  ASSERT_EQ(parse_filter(json_of(filter), back), DecodeError::kNone);
  EXPECT_EQ(json_of(back), json_of(filter));
  EXPECT_EQ(back.tags, (TagList{{"A", "x"}, {"t", "b", "a\"\n"}}));
}

TEST(EventFilter, ListsOfFilters) {
  const std::vector<EventFilter> filters = {full_filter(), EventFilter{}, full_filter()};
  for (std::size_t count = 0; count <= filters.size(); ++count) {
    const std::span<const EventFilter> some(filters.data(), count);
    std::string json;
    append_json(some, json);
    EXPECT_EQ(json.size(), json_bytes(some));
    std::vector<EventFilter> back(2, full_filter());
    ASSERT_EQ(parse_filters(json, back), DecodeError::kNone) << json;
    ASSERT_EQ(back.size(), count);
    for (std::size_t i = 0; i < count; ++i) EXPECT_EQ(json_of(back[i]), json_of(filters[i]));
  }
  std::vector<EventFilter> back;
  for (const char* const json : {"", "{}", "[1]", "[{},]", "[{}", "[{}]]"}) {
    EXPECT_NE(parse_filters(json, back), DecodeError::kNone) << json;
  }
}

TEST(EventFilter, RefusesWhatItDoesNotUnderstand) {
  using enum DecodeError;
  const std::string key(64, 'a');
  const std::vector<std::pair<std::string, DecodeError>> cases = {
      {"{\"kindz\":[1]}", kUnknownMember},
      {"{\"#tt\":[\"x\"]}", kUnknownMember},
      {"{\"#1\":[\"x\"]}", kUnknownMember},
      {"{\"&t\":[\"x\"]}", kUnknownMember},
      {"{\"" + std::string(100, 'x') + "\\n\":1}", kUnknownMember},
      {"{\"ids\":[\"x\"]}", kBadHex},
      {"{\"#e\":[\"x\"]}", kBadHex},
      {"{\"#p\":[\"" + std::string(64, 'A') + "\"]}", kBadHex},
      {"{\"kinds\":[65536]}", kBadNumber},
      {"{\"kinds\":1}", kBadList},
      {"{\"kinds\":[\"1\"]}", kBadList},
      {"{\"since\":1.5}", kBadNumber},
      {"{\"until\":9223372036854775808}", kBadNumber},
      {"{\"limit\":-1}", kBadNumber},
      {"{\"search\":1}", kBadString},
      {"{\"ids\":[],\"ids\":[]}", kRepeatedMember},
      {"{\"#t\":[],\"#\\u0074\":[]}", kRepeatedMember},
      {"{\"#t\":[1]}", kBadList},
      {"{\"#t\":[\"\\udc00\"]}", kLoneSurrogate},
      {"null", kNotJson},
      {"{} {}", kTrailingBytes},
  };
  for (const auto& [json, expected] : cases) {
    EventFilter filter;
    EXPECT_EQ(parse_filter(json, filter), expected) << json;
  }
  EventFilter filter;
  EXPECT_EQ(parse_filter("{\"#e\":[\"" + key + "\"],\"since\":-9223372036854775808}", filter),
            kNone);
  EXPECT_EQ(filter.since, std::numeric_limits<std::int64_t>::min());
}

TEST(EventFilter, SinceUntilAreInclusiveAndCanBeIgnored) {
  Event event;
  event.created_at = 100;
  EventFilter filter;
  filter.since = 100;
  filter.until = 100;
  EXPECT_TRUE(matches(filter, event));
  filter.since = 101;
  EXPECT_FALSE(matches(filter, event));
  EXPECT_TRUE(matches_ignoring_time(filter, event));
  filter.since = 0;
  filter.until = 99;
  EXPECT_FALSE(matches(filter, event));
  filter.until = 0;
  EXPECT_FALSE(matches(filter, event));
}

// The relay's matcher on the relay's form of both.
bool relay_matches(const std::string& filter_json, const std::string& event_json) {
  MessageParser parser{MessageLimits{}};
  std::string padded = filter_json;
  padded.resize(filter_json.size() + MessageParser::kPadding, ' ');
  const ClientMessage& message =
      parser.parse_filter(std::string_view(padded).substr(0, filter_json.size()));
  EXPECT_EQ(message.kind, MessageKind::kReq) << filter_json;
  const std::vector<std::uint8_t> packed = test::pack_event_text(event_json);
  return message.filters.front().matches(PackedEventView(packed.data()));
}

TEST(EventFilter, AnswersAsTheRelayDoes) {
  const std::vector<test::EventDraft> drafts = {
      {.kind = 1, .tags = {{"t", "a"}, {"t", "b", "c"}, {"x"}}},
      {.key_index = 1, .created_at = 5, .kind = 30'023, .tags = {{"d", ""}, {"d", "late"}}},
      {.kind = 30'023, .tags = {{"d"}, {"t", "quote\""}}},
      {.kind = 30'023},
      {.kind = 7, .tags = {{"d"}, {"T", "a"}}},
  };
  const std::vector<std::string> filters = {
      "{}",
      "{\"ids\":[]}",
      "{\"kinds\":[7,1]}",
      "{\"kinds\":[]}",
      "{\"authors\":[\"" + test::pubkey_hex(1) + "\"]}",
      "{\"#t\":[\"a\"]}",
      "{\"#t\":[\"c\"]}",
      "{\"#t\":[\"quote\\\"\"]}",
      "{\"#t\":[]}",
      "{\"#T\":[\"a\"],\"kinds\":[7]}",
      "{\"#d\":[\"\"]}",
      "{\"#d\":[\"late\"]}",
      "{\"#x\":[\"\"]}",
      "{\"since\":5,\"until\":5}",
      "{\"until\":4}",
      "{\"since\":6,\"until\":5}",
      "{\"limit\":0}",
  };
  int match_count = 0;
  for (const test::EventDraft& draft : drafts) {
    const std::string event_json = test::unsigned_event(draft);
    Event event;
    ASSERT_EQ(parse_event(event_json, event), DecodeError::kNone);
    for (const std::string& filter_json : filters) {
      EventFilter filter;
      ASSERT_EQ(parse_filter(filter_json, filter), DecodeError::kNone);
      EXPECT_EQ(matches(filter, event), relay_matches(filter_json, event_json))
          << filter_json << event_json;
      match_count += matches(filter, event) ? 1 : 0;
    }
  }
  EXPECT_GT(match_count, 20);
}

TEST(EventFilter, OneOfSeveralIsEnough) {
  Event event;
  event.kind = 7;
  std::vector<EventFilter> filters(3);
  filters[0].kinds = {1};
  filters[1].kinds = {2};
  filters[2].kinds = {7};
  EXPECT_TRUE(matches_any(filters, event));
  filters.pop_back();
  EXPECT_FALSE(matches_any(filters, event));
  EXPECT_FALSE(matches_any({}, event));
}

}  // namespace
}  // namespace gyre::nostr

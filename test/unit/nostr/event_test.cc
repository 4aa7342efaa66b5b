#include "gyre/nostr/event.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/nostr/verify.h"
#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

const test::EventDraft kDraft{
    .created_at = 1'767'225'600,
    .kind = 30'023,
    .tags = {{"d", "post\n"}, {"t", "r\"ed", "second"}, {"T"}, {"empty", ""}},
    .content = "said \"hi\" \\ \b\f\r\t\x01\x1f \u00e9\U0001f355",
};

Event parsed(std::string_view json) {
  Event event;
  EXPECT_EQ(parse_event(json, event), DecodeError::kNone) << json;
  return event;
}

std::string json_of(const Event& event) {
  std::string out = "front";
  append_json(event, out);
  EXPECT_EQ(out.size(), 5 + json_bytes(event));
  return out.substr(5);
}

TEST(Event, ReadsWhatItSaysAndWritesItAlike) {
  const std::string json = test::sign_event(kDraft);
  const Event event = parsed(json);
  EXPECT_EQ(event.pubkey, test::pubkey(0));
  EXPECT_EQ(event.created_at, kDraft.created_at);
  EXPECT_EQ(event.kind, kDraft.kind);
  EXPECT_EQ(event.content, kDraft.content);
  EXPECT_EQ(event.tags, (TagList{{"d", "post\n"}, {"t", "r\"ed", "second"}, {"T"}, {"empty", ""}}));
  EXPECT_EQ(json_of(event), json);
}

TEST(Event, TheIdIsTheHashOfTheCanonicalForm) {
  for (const std::size_t content_bytes : {0u, 1u, 511u, 512u, 513u, 5'000u, 100'000u}) {
    test::EventDraft draft = kDraft;
    draft.content.assign(content_bytes, '"');
    draft.tags.push_back({"long", std::string(4'000, 'x')});
    const Event event = parsed(test::sign_event(draft));
    std::string canonical;
    append_canonical(event, canonical);
    EXPECT_EQ(canonical.size(), canonical_bytes(event));
    EXPECT_EQ(sha256(as_bytes(canonical)), event.id);
    EXPECT_EQ(compute_id(event), event.id);
    EXPECT_TRUE(has_right_id(event));
    EXPECT_TRUE(has_valid_signature(event));
  }
}

TEST(Event, AChangeOfAnyPartIsNoticed) {
  const Event good = parsed(test::sign_event(kDraft));
  std::vector<Event> changed(6, good);
  changed[0].pubkey.bytes[5] ^= 1;
  changed[1].created_at += 1;
  changed[2].kind += 1;
  changed[3].tags.append({"x"});
  changed[4].content += "x";
  changed[5].id.bytes[31] ^= 1;
  for (const Event& event : changed) EXPECT_FALSE(has_right_id(event));
  Event forged = good;
  forged.sig[63] ^= 1;
  EXPECT_TRUE(has_right_id(forged));
  EXPECT_FALSE(has_valid_signature(forged));
  forged = good;
  forged.pubkey = test::pubkey(1);
  EXPECT_FALSE(has_valid_signature(forged));
  forged.pubkey.bytes.fill(0xff);
  EXPECT_FALSE(has_valid_signature(forged));
}

TEST(Event, TheEstimateIsExactWithoutEscapesAndNeverTooLarge) {
  for (const test::EventDraft& draft :
       {test::EventDraft{.content = "plain"}, test::EventDraft{.created_at = 0, .kind = 65'535},
        test::EventDraft{.tags = {{"a", "b"}, {"c"}}}}) {
    const Event event = parsed(test::sign_event(draft));
    EXPECT_EQ(estimate_json_bytes(event), json_bytes(event));
  }
  const Event event = parsed(test::sign_event(kDraft));
  EXPECT_LT(estimate_json_bytes(event), json_bytes(event));
  EXPECT_GE(6 * estimate_json_bytes(event), json_bytes(event));
}

const std::string kId(64, 'a');
const std::string kPubkey(64, 'b');
const std::string kSig(128, 'c');

// Members by name, in the order given, with some replaced.
std::string object(const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::pair<std::string, std::string>> members = {
      {"sig", '"' + kSig + '"'}, {"content", "\"x\""},
      {"tags", "[[\"t\"]]"},     {"kind", "1"},
      {"created_at", "1"},       {"pubkey", '"' + kPubkey + '"'},
      {"id", '"' + kId + '"'},
  };
  for (const auto& [name, value] : changes) {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto& member) { return member.first == name; });
    if (found == members.end()) {
      members.emplace_back(name, value);
    } else if (value.empty()) {
      members.erase(found);
    } else {
      found->second = value;
    }
  }
  std::string out = " {";
  for (const auto& [name, value] : members) {
    out += (out.size() > 2 ? " , \"" : "\"") + name + "\" : " + value;
  }
  return out + " } ";
}

TEST(Event, MembersComeInAnyOrderAndUnknownOnesAreDropped) {
  const Event event =
      parsed(object({{"extra", "{\"a\":[1,2,{\"b\":null}],\"id\":\"x\"}"}, {"more", "-1.5e3"}}));
  EXPECT_EQ(to_hex(event.id.bytes), kId);
  EXPECT_EQ(json_of(event), "{\"id\":\"" + kId + "\",\"pubkey\":\"" + kPubkey +
                                "\",\"created_at\":1,\"kind\":1,\"tags\":[[\"t\"]],"
                                "\"content\":\"x\",\"sig\":\"" +
                                kSig + "\"}");
}

TEST(Event, EscapedNamesAndDigitsAreWhatTheyStandFor) {
  const Event event = parsed(
      object({{"id", "\"\\u0061" + kId.substr(1) + "\""}, {"kind", ""}, {"k\\u0069nd", "7"}}));
  EXPECT_EQ(to_hex(event.id.bytes), kId);
  EXPECT_EQ(event.kind, 7);
}

TEST(Event, EachFaultHasItsName) {
  using enum DecodeError;
  const std::vector<std::pair<std::string, DecodeError>> cases = {
      {object({{"id", ""}}), kMissingMember},
      {object({{"sig", ""}}), kMissingMember},
      {"{}", kMissingMember},
      {object({{"id", "\"" + kId.substr(1) + "\""}}), kBadHex},
      {object({{"id", "\"A" + kId.substr(1) + "\""}}), kBadHex},
      {object({{"id", "1"}}), kBadHex},
      {object({{"sig", "null"}}), kBadHex},
      {object({{"created_at", "-1"}}), kBadNumber},
      {object({{"created_at", "1.0"}}), kBadNumber},
      {object({{"created_at", "9223372036854775808"}}), kBadNumber},
      {object({{"created_at", "\"1\""}}), kBadNumber},
      {object({{"kind", "65536"}}), kBadNumber},
      {object({{"kind", "1e0"}}), kBadNumber},
      {object({{"content", "null"}}), kBadString},
      {object({{"tags", "{}"}}), kBadTags},
      {object({{"tags", "[[]]"}}), kBadTags},
      {object({{"x", "1"}, {"\\u0078", "2"}}), kRepeatedMember},
      {object({{"\\u0069d", "\"" + kId + "\""}}), kRepeatedMember},
      {object({{"content", "\"\\udead\""}}), kLoneSurrogate},
      {object({{"extra", "\"\\udead\""}}), kLoneSurrogate},
      {object({{"extra", std::string(16, '[') + std::string(16, ']')}}), kTooDeep},
      {object({{"extra", "[1,]"}}), kNotJson},
      {object({{"content", "\"\xc0\x80\""}}), kNotUtf8},
      {object({}) + "{}", kTrailingBytes},
      {"[]", kNotJson},
      {"", kNotJson},
  };
  for (const auto& [json, expected] : cases) {
    Event event;
    EXPECT_EQ(parse_event(json, event), expected) << json << describe(expected);
  }
  Event event;
  EXPECT_EQ(parse_event(object({{"created_at", "9223372036854775807"}, {"kind", "65535"}}), event),
            kNone);
}

TEST(Event, ADraftNeedsKindAndContentOnly) {
  const Event other = parsed(test::sign_event(kDraft));
  Event event = other;
  ASSERT_EQ(parse_draft("{\"kind\":7,\"content\":\"+\"}", event), DecodeError::kNone);
  Event expected = other;
  expected.kind = 7;
  expected.content = "+";
  expected.tags.clear();
  EXPECT_EQ(event, expected) << "what is missing stays, but tags";
  ASSERT_EQ(parse_draft("{\"created_at\":0,\"kind\":7,\"content\":\"+\"}", event),
            DecodeError::kNone);
  EXPECT_EQ(event.created_at, 0u);
  ASSERT_EQ(parse_draft(test::sign_event(kDraft), event), DecodeError::kNone);
  EXPECT_EQ(event, parsed(test::sign_event(kDraft)));
  EXPECT_EQ(parse_draft("{\"kind\":7}", event), DecodeError::kMissingMember);
  EXPECT_EQ(parse_draft("{\"content\":\"\"}", event), DecodeError::kMissingMember);
}

TEST(Event, NoFrontOfAnEventIsTakenForAWhole) {
  const std::string json = test::sign_event(kDraft);
  for (std::size_t bytes = 0; bytes < json.size(); ++bytes) {
    // A copy of exactly that size, so that a sanitizer sees a read too far.
    const std::vector<char> front(json.begin(), json.begin() + static_cast<std::ptrdiff_t>(bytes));
    Event event;
    EXPECT_NE(parse_event({front.data(), bytes}, event), DecodeError::kNone) << bytes;
  }
}

TEST(Event, AgreesWithTheRelaysParserOnEveryChangedByte) {
  const std::string json = test::unsigned_event(kDraft);
  MessageParser parser{MessageLimits{}};
  for (std::size_t at = 0; at < json.size(); ++at) {
    for (const char c : {'"', '\\', ',', '0', 'z', '\n', '\x80', '}'}) {
      std::string changed = json;
      changed[at] = c;
      if (!is_valid_utf8(changed)) continue;
      Event event;
      const bool is_taken =
          parse_event(changed, event) == DecodeError::kNone && has_right_id(event);
      std::string padded = changed;
      padded.resize(changed.size() + MessageParser::kPadding, ' ');
      const ClientMessage& message =
          parser.parse_event(std::string_view(padded).substr(0, changed.size()));
      ASSERT_EQ(is_taken, message.kind == MessageKind::kEvent) << changed;
      if (is_taken) {
        ASSERT_EQ(json_of(event), message.event.json());
      }
    }
  }
}

}  // namespace
}  // namespace gyre::nostr

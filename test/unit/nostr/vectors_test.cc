// The vectors of signed events and filters in test/vectors, as far as a parser, a
// verifier and a matcher can judge them: every line of events.jsonl, every query and bad filter of
// filters.json.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/verify.h"
#include "support/event_factory.h"
#include "support/padded_text.h"

namespace gyre::nostr {
namespace {

using simdjson::dom::element;

const std::string kVectors = GYRE_TEST_VECTORS;

std::string text_of(element value) { return std::string(std::string_view(value)); }

std::string canonical(std::string_view text) {
  std::string out;
  append_escaped(text, out);
  return out;
}

std::string decode_base64(std::string_view text) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int bit_count = 0;
  for (const char c : text) {
    if (c == '=') break;
    bits = bits << 6 | static_cast<std::uint32_t>(kDigits.find(c));
    bit_count += 6;
    if (bit_count < 8) continue;
    bit_count -= 8;
    out.push_back(static_cast<char>(bits >> bit_count & 0xff));
  }
  return out;
}

class Vectors : public ::testing::Test {
 protected:
  const ClientMessage& parse(std::string_view text) {
    return parser_.parse(test::PaddedText(text).view());
  }
  bool is_signed(PackedEventView event) {
    SignatureCheck check{event, false};
    verifier_->verify({&check, 1});
    return check.is_valid;
  }
  void expect_accepted(const std::string& id, element line);
  void expect_refused(const std::string& id, element line);
  void expect_same_event(const std::string& id, std::string_view sent, PackedEventView event);

  MessageParser parser_{MessageLimits{}};
  std::unique_ptr<SignatureVerifier> verifier_ = make_signature_verifier(16);
  std::set<std::string> left_to_verifier_;
};

// What is served has the same seven members, equal as values (nips.md 01-E14).
void Vectors::expect_same_event(const std::string& id, std::string_view sent,
                                PackedEventView event) {
  simdjson::dom::parser sent_parser;
  simdjson::dom::parser served_parser;
  const simdjson::dom::object before = sent_parser.parse(std::string(sent)).at(1);
  const simdjson::dom::object after = served_parser.parse(std::string(event.json()));
  EXPECT_EQ(after.size(), 7u) << id;
  for (const auto member : after) {
    EXPECT_EQ(simdjson::to_string(before[member.key].value()), simdjson::to_string(member.value))
        << id;
  }
}

void Vectors::expect_accepted(const std::string& id, element line) {
  const std::string sent = text_of(line["send"]);
  const ClientMessage& message = parse(sent);
  ASSERT_EQ(message.kind, MessageKind::kEvent) << id << ' ' << message.refusal.text;
  EXPECT_EQ(message.event.id_hex(), text_of(line["expect"].at(1))) << id;
  EXPECT_TRUE(is_signed(message.event)) << id;
  EXPECT_TRUE(PackedEventView::check(message.event.bytes()).has_value()) << id;
  expect_same_event(id, sent, message.event);
}

void Vectors::expect_refused(const std::string& id, element line) {
  const ClientMessage& message = parse(text_of(line["send"]));
  if (text_of(line["expect"].at(0)) == "NOTICE") {
    EXPECT_EQ(message.kind, MessageKind::kBad) << id;
    return;
  }
  const std::string expected_id = canonical(std::string_view(line["expect"].at(1)));
  if (message.kind == MessageKind::kEvent) {
    left_to_verifier_.insert(id);
    EXPECT_EQ(message.event.id_hex(), expected_id) << id;
    EXPECT_EQ(is_signed(message.event), message.event.kind() == 22242) << id;
    return;
  }
  EXPECT_EQ(message.kind, MessageKind::kBadEvent) << id;
  EXPECT_EQ(message.event_id, expected_id) << id;
  EXPECT_EQ(message.refusal.prefix, Prefix::kInvalid) << id;
}

TEST_F(Vectors, EveryEventLineGetsItsVerdict) {
  std::ifstream file(kVectors + "/events.jsonl");
  ASSERT_TRUE(file.is_open());
  simdjson::dom::parser lines;
  std::size_t count = 0;
  for (std::string text; std::getline(file, text);) {
    const element line = lines.parse(text);
    const std::string id = text_of(line["id"]);
    ++count;
    if (id.starts_with("EV-A")) {
      expect_accepted(id, line);
    } else if (id.starts_with("EV-R")) {
      expect_refused(id, line);
    } else if (line["send_b64"].error() == simdjson::SUCCESS) {
      EXPECT_FALSE(is_valid_utf8(decode_base64(line["send_b64"]))) << id;
    } else {
      EXPECT_EQ(parse(text_of(line["send"])).kind, MessageKind::kBad) << id;
    }
  }
  EXPECT_EQ(count, 100u);
  // Right ids and wrong signatures; and EV-R29, a login sent as an EVENT, which the session
  // refuses.
  for (const std::string& id : left_to_verifier_) {
    EXPECT_TRUE(
        (std::set<std::string>{"EV-R07", "EV-R08", "EV-R09", "EV-R10", "EV-R29"}.contains(id)))
        << id;
  }
  EXPECT_GE(left_to_verifier_.size(), 3u);
}

struct StoredEvent {
  std::string name;
  std::vector<std::uint8_t> packed;
  [[nodiscard]] PackedEventView view() const { return PackedEventView(packed.data()); }
};

// What a relay that holds `events` and nothing else would answer, by the letter of NIP-01.
std::vector<std::string> answer(const std::vector<StoredEvent>& events,
                                const std::vector<Filter>& filters) {
  std::vector<const StoredEvent*> newest_first;
  for (const StoredEvent& event : events) newest_first.push_back(&event);
  std::sort(newest_first.begin(), newest_first.end(), [](const auto* a, const auto* b) {
    if (a->view().created_at() != b->view().created_at()) {
      return a->view().created_at() > b->view().created_at();
    }
    return a->view().id() < b->view().id();
  });
  std::set<std::string> chosen;
  for (const Filter& filter : filters) {
    std::uint64_t left = filter.limit.value_or(~std::uint64_t{0});
    for (const StoredEvent* event : newest_first) {
      if (left == 0) break;
      if (!filter.matches(event->view())) continue;
      chosen.insert(event->name);
      --left;
    }
  }
  std::vector<std::string> names;
  for (const StoredEvent* event : newest_first) {
    if (chosen.contains(event->name)) names.push_back(event->name);
  }
  return names;
}

class FilterVectors : public Vectors {
 protected:
  void SetUp() override {
    ASSERT_EQ(file_parser_.load(kVectors + "/filters.json").get(file_), simdjson::SUCCESS);
  }
  simdjson::dom::parser file_parser_;
  element file_;
};

TEST_F(FilterVectors, EveryQuerySelectsItsEvents) {
  std::vector<StoredEvent> events;
  for (const auto member : simdjson::dom::object(file_["events"])) {
    events.push_back(
        {std::string(member.key), test::pack_event_text(simdjson::to_string(member.value))});
    EXPECT_TRUE(is_signed(events.back().view())) << member.key;
  }
  EXPECT_EQ(events.size(), 20u);
  std::size_t count = 0;
  for (const element query : simdjson::dom::array(file_["queries"])) {
    ++count;
    const std::string id = text_of(query["id"]);
    std::string text = "[\"REQ\",\"" + id + "\"";
    for (const element filter : simdjson::dom::array(query["filters"])) {
      text += "," + simdjson::to_string(filter);
    }
    const ClientMessage& message = parse(text + "]");
    ASSERT_EQ(message.kind, MessageKind::kReq) << id << ' ' << message.refusal.text;
    std::vector<std::string> expected;
    for (const element name : simdjson::dom::array(query["expect"])) {
      expected.push_back(text_of(name));
    }
    EXPECT_EQ(answer(events, message.filters), expected) << id;
  }
  EXPECT_EQ(count, 28u);
}

TEST_F(FilterVectors, EveryBadFilterIsRefusedWithItsWord) {
  std::size_t count = 0;
  for (const element entry : simdjson::dom::array(file_["bad"])) {
    ++count;
    const std::string filter = text_of(entry["filter"]);
    for (const char* command : {"REQ", "COUNT"}) {
      const std::string text =
          std::string("[\"") + command + "\",\"s\"" + (filter.empty() ? "" : ",") + filter + "]";
      const ClientMessage& message = parse(text);
      EXPECT_EQ(message.kind, MessageKind::kBadRequest) << text;
      EXPECT_EQ(message.subscription_id, "s") << text;
      EXPECT_EQ(prefix_word(message.refusal.prefix), std::string_view(entry["prefix"])) << text;
    }
  }
  EXPECT_EQ(count, 21u);
}

}  // namespace
}  // namespace gyre::nostr

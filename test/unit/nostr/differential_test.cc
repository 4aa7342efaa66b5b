// Against simdjson's DOM parser, which checks every byte of a text: on seeded mutations of good and
// bad messages, MessageParser and the DOM must agree on what is JSON.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <cctype>
#include <string>
#include <vector>

#include "gyre/base/random.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "support/event_factory.h"
#include "support/padded_text.h"

namespace gyre::nostr {
namespace {

std::vector<std::string> seed_messages() {
  const std::string event = test::unsigned_event(
      {.tags = {{"t", "a\"b"}, {"d"}, {"expiration", "12"}}, .content = "x\n"});
  return {
      "[\"EVENT\"," + event + "]",
      "[\"EVENT\",{\"x\":[{\"y\":[1.5e3,true,null]},\"\\u0041\"]," + event.substr(1) + ",7]",
      "[\"AUTH\"," + event + "]",
      R"(["REQ","s",{"kinds":[1,2],"#t":["a","\u00e9"],"since":-5,"limit":3},{}])",
      R"(["COUNT","q\ud83d\ude00",{"ids":[],"until":9}])",
      R"( [ "CLOSE" , "s" , [ { "a" : [ ] } ] , false ] )",
      R"(["REQ","s",{"kinds":[65536]}])",
      R"(["NOPE",{"a":"\ud800"},[-0,0.1]])",
  };
}

std::string mutate(std::string text, Random& random) {
  static constexpr std::string_view kAlphabet = "[]{},:\"\\ \n\t0159.-+eEutnfrbalsx/\x01\x1f\x7f";
  const std::uint64_t changes = 1 + random.next_u64() % 3;
  for (std::uint64_t i = 0; i < changes && !text.empty(); ++i) {
    const std::size_t at = random.next_u64() % text.size();
    const char c = kAlphabet[random.next_u64() % kAlphabet.size()];
    switch (random.next_u64() % 5) {
      case 0: text[at] = c; break;
      case 1: text.insert(at, 1, c); break;
      case 2: text.erase(at, 1 + random.next_u64() % 3); break;
      case 3: text.insert(at, text.substr(random.next_u64() % text.size(), 12)); break;
      default: text.resize(at); break;
    }
  }
  return text;
}

// Only numbers out of its range may be refused by the DOM and not by us.
bool has_large_number(std::string_view text) {
  std::size_t digits = 0;
  bool has_exponent = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    digits = std::isdigit(static_cast<unsigned char>(text[i])) != 0 ? digits + 1 : 0;
    if (digits >= 19) return true;
    if (i > 0 && (text[i] == 'e' || text[i] == 'E') &&
        std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0) {
      has_exponent = true;
    }
    if (has_exponent && digits >= 3) return true;
  }
  return false;
}

TEST(Differential, ParserAndDomAgreeOnWhatIsJson) {
  const std::vector<std::string> seeds = seed_messages();
  SeededRandom random(20260101);
  MessageParser parser{MessageLimits{}};
  simdjson::dom::parser dom;
  std::size_t good = 0;
  std::size_t refused = 0;
  std::size_t broken = 0;
  for (int round = 0; round < 200'000; ++round) {
    const std::string text = mutate(seeds[random.next_u64() % seeds.size()], random);
    if (!is_valid_utf8(text)) continue;
    const simdjson::error_code error = dom.parse(text).error();
    const test::PaddedText padded(text, "]}\",x"[random.next_u64() % 5]);
    const ClientMessage& message = parser.parse(padded.view());
    const bool is_number = error == simdjson::NUMBER_ERROR && has_large_number(text);
    switch (message.kind) {
      case MessageKind::kEvent:
      case MessageKind::kAuth:
      case MessageKind::kReq:
      case MessageKind::kCount:
      case MessageKind::kClose:
        ++good;
        ASSERT_TRUE(error == simdjson::SUCCESS || is_number) << text << '\n' << error;
        break;
      case MessageKind::kBadEvent:
      case MessageKind::kBadRequest:
        // The DOM refuses strings without a UTF-8 form; for us they are JSON, and refused later.
        ++refused;
        ASSERT_TRUE(error == simdjson::SUCCESS || error == simdjson::STRING_ERROR || is_number)
            << text << '\n'
            << error;
        break;
      case MessageKind::kBad:
        if (message.refusal.text != "not valid JSON") break;
        ++broken;
        ASSERT_NE(error, simdjson::SUCCESS) << text;
        break;
    }
  }
  // The mutations reach all three.
  EXPECT_GT(good, 1'000u);
  EXPECT_GT(refused, 1'000u);
  EXPECT_GT(broken, 1'000u);
}

}  // namespace
}  // namespace gyre::nostr

#include "gyre/nostr/envelope.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

const std::string kId(64, 'a');

TEST(Envelope, EveryKindComesBackAsItWas) {
  const std::string event = test::sign_event({.tags = {{"t", "x"}}, .content = "\"hi\"\n"});
  const std::vector<std::pair<EnvelopeKind, std::string>> cases = {
      {EnvelopeKind::kEvent, "[\"EVENT\"," + event + "]"},
      {EnvelopeKind::kSubscriptionEvent, "[\"EVENT\",\"sub\\\"1\"," + event + "]"},
      {EnvelopeKind::kReq, "[\"REQ\",\"s\",{\"kinds\":[1]},{}]"},
      {EnvelopeKind::kClose, "[\"CLOSE\",\"\"]"},
      {EnvelopeKind::kClosed, "[\"CLOSED\",\"s\",\"error: \\\\ text\"]"},
      {EnvelopeKind::kEose, "[\"EOSE\",\"s\"]"},
      {EnvelopeKind::kOk, "[\"OK\",\"" + kId + "\",true,\"\"]"},
      {EnvelopeKind::kOk, "[\"OK\",\"" + kId + "\",false,\"invalid: no\"]"},
      {EnvelopeKind::kNotice, "[\"NOTICE\",\"text\"]"},
      {EnvelopeKind::kAuthChallenge, "[\"AUTH\",\"challenge\"]"},
      {EnvelopeKind::kAuth, "[\"AUTH\"," + event + "]"},
      {EnvelopeKind::kCount, "[\"COUNT\",\"q\",{\"kinds\":[1]}]"},
      {EnvelopeKind::kCount, "[\"COUNT\",\"q\",{}]"},
      {EnvelopeKind::kCountResult, "[\"COUNT\",\"q\",{\"count\":18446744073709551615}]"},
  };
  Envelope envelope;
  for (const auto& [kind, json] : cases) {
    ASSERT_EQ(parse_envelope(json, envelope), DecodeError::kNone) << json;
    EXPECT_EQ(envelope.kind, kind) << json;
    std::string out;
    append_json(envelope, out);
    EXPECT_EQ(out, json);
  }
}

TEST(Envelope, MoreThanExpectedIsIgnoredIfItIsJson) {
  Envelope envelope;
  EXPECT_EQ(parse_envelope("[\"EOSE\",\"s\",[\"finish\"],{\"a\":[1]}]", envelope),
            DecodeError::kNone);
  EXPECT_EQ(envelope.subscription_id, "s");
  EXPECT_EQ(parse_envelope("[\"COUNT\",\"q\",{\"approximate\":true,\"count\":5,\"hll\":\"00\"}]",
                           envelope),
            DecodeError::kNone);
  EXPECT_EQ(envelope.count, 5u);
  EXPECT_NE(parse_envelope("[\"EOSE\",\"s\",]", envelope), DecodeError::kNone);
  EXPECT_NE(parse_envelope("[\"EOSE\",\"s\"]x", envelope), DecodeError::kNone);
}

TEST(Envelope, RefusesWhatIsNone) {
  Envelope envelope;
  for (const std::string& json : std::vector<std::string>{"",
                                                          "[]",
                                                          "{}",
                                                          "[1]",
                                                          "[\"X\",\"y\"]",
                                                          "[\"EVENT\"]",
                                                          "[\"EVENT\",\"s\"]",
                                                          "[\"EVENT\",{}]",
                                                          "[\"REQ\",\"s\"]",
                                                          "[\"REQ\",1,{}]",
                                                          "[\"REQ\",\"s\",1]",
                                                          "[\"OK\",\"x\",true,\"\"]",
                                                          "[\"OK\",\"" + kId + "\",1,\"\"]",
                                                          "[\"OK\",\"" + kId + "\",true]",
                                                          "[\"CLOSED\",\"s\"]",
                                                          "[\"NOTICE\",null]",
                                                          "[\"COUNT\",\"q\",{\"count\":-1}]",
                                                          "[\"COUNT\",\"q\"]",
                                                          "[\"AUTH\",1]",
                                                          "[\"EOSE\",\"s\""}) {
    EXPECT_NE(parse_envelope(json, envelope), DecodeError::kNone) << json;
  }
}

}  // namespace
}  // namespace gyre::nostr

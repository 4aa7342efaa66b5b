#include "gyre/nostr/relay_message.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace gyre::nostr {
namespace {

TEST(RelayMessage, OkCarriesFourElementsAlways) {
  std::string out;
  append_ok(out, "ab12", true, {});
  EXPECT_EQ(out, R"(["OK","ab12",true,""])");
  out.clear();
  append_ok(out, "ab12", true, {Prefix::kDuplicate, "known already"});
  EXPECT_EQ(out, R"(["OK","ab12",true,"duplicate: known already"])");
  out.clear();
  append_ok(out, R"(a\"b)", false, {Prefix::kAuthRequired, "log in first"});
  EXPECT_EQ(out, R"(["OK","a\"b",false,"auth-required: log in first"])");
}

TEST(RelayMessage, ClosedAndNoticeNameAPrefix) {
  std::string out;
  append_closed(out, "sub", {Prefix::kUnsupported, "no search"});
  EXPECT_EQ(out, R"(["CLOSED","sub","unsupported: no search"])");
  out.clear();
  append_notice(out, {Prefix::kInvalid, "not valid JSON"});
  EXPECT_EQ(out, R"(["NOTICE","invalid: not valid JSON"])");
}

TEST(RelayMessage, TheOthersHaveTheirShapes) {
  std::string out;
  append_eose(out, "s", EoseHint::kNone);
  append_eose(out, "s", EoseHint::kFinish);
  append_eose(out, "s", EoseHint::kMore);
  append_auth(out, "c0ffee");
  append_count(out, "q", 0);
  append_count(out, "q", std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(out, R"(["EOSE","s"]["EOSE","s",["finish"]]["EOSE","s",["more"]])"
                 R"(["AUTH","c0ffee"]["COUNT","q",{"count":0}])"
                 R"(["COUNT","q",{"count":18446744073709551615}])");
}

TEST(RelayMessage, EventPrefixHasTheLengthItPromises) {
  for (const std::string subscription : {"", "s", R"(long\nand\"escaped)"}) {
    std::string out;
    append_event_prefix(out, subscription);
    EXPECT_EQ(out, "[\"EVENT\",\"" + subscription + "\",");
    EXPECT_EQ(out.size(), event_prefix_bytes(subscription.size()));
  }
}

}  // namespace
}  // namespace gyre::nostr

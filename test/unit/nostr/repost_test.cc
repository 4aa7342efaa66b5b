#include "gyre/nostr/repost.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

bool embeds(const std::string& content) {
  test::EventDraft draft;
  draft.kind = 6;
  draft.content = content;
  const std::vector<std::uint8_t> packed = test::pack_unsigned_event(draft);
  return embeds_protected_event(PackedEventView(packed.data()));
}

TEST(Repost, FindsTheProtectedTagOfAnEmbeddedEvent) {
  EXPECT_TRUE(embeds(R"({"kind":1,"tags":[["-"]],"content":""})"));
  EXPECT_TRUE(embeds(R"({ "tags" : [ ["t","x"], [ "-" , "more" ] ] })"));
}

TEST(Repost, FindsTheTagWrittenWithAnEscape) {
  EXPECT_TRUE(embeds(R"({"tags":[["\u002d"]]})"));
  EXPECT_TRUE(embeds(R"({"tags":[["\u002D"]]})"));
}

TEST(Repost, LeavesEverythingElseAlone) {
  EXPECT_FALSE(embeds(""));
  EXPECT_FALSE(embeds("not json, though it says [\"-\"]"));
  EXPECT_FALSE(embeds(R"({"tags":[["t","-"]],"content":"[[\"-\"]]"})"));
  EXPECT_FALSE(embeds(R"({"tags":"-","x":["-"]})"));
  EXPECT_FALSE(embeds(R"([["-"]])"));
}

}  // namespace
}  // namespace gyre::nostr

#include "app/explain.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::sign_event;
using testing::HasSubstr;
using Driver = storage::FilterTerms::Driver;

class ExplainTest : public ImportExportTest {
 protected:
  // 60 events of 6 authors: every third is of kind 7, and every tenth has a tag.
  ExplainTest() {
    std::vector<std::string> events;
    for (std::uint32_t i = 0; i < 60; ++i) {
      const auto kind = static_cast<std::uint16_t>(i % 3 == 0 ? 7 : 1);
      test::EventDraft draft{.key_index = i % 6, .created_at = 1'600'000'000 + i, .kind = kind};
      if (i % 10 == 0) draft.tags = {{"t", "ten"}};
      events.push_back(sign_event(draft));
    }
    EXPECT_EQ(import(joined(events)).added, 60u);
  }
  Explanation explain(const std::string& filter) {
    const auto explanation = run_explain({import_.store_path, filter});
    EXPECT_TRUE(explanation.ok()) << explanation.status().ToString();
    return explanation.value_or(Explanation());
  }
  static ShardExplanation sum_of(const Explanation& explanation) {
    ShardExplanation sum;
    for (const ShardExplanation& shard : explanation.shards) {
      sum.read.postings += shard.read.postings;
      sum.read.rows += shard.read.rows;
      sum.read.records += shard.read.records;
      sum.read.bytes += shard.read.bytes;
      sum.events += shard.events;
    }
    return sum;
  }
};

TEST_F(ExplainTest, EverythingIsReadOnceFromAllShards) {
  const Explanation explanation = explain("{}");
  EXPECT_EQ(explanation.shards.size(), 3u);
  std::uint64_t expected = 0;
  for (const ShardExplanation& shard : explanation.shards) {
    ASSERT_EQ(shard.plan.options.size(), 1u);
    EXPECT_EQ(shard.plan.options[0].driver, Driver::kAll);
    expected += shard.plan.options[0].postings;
  }
  EXPECT_EQ(expected, 60u);
  const ShardExplanation sum = sum_of(explanation);
  EXPECT_EQ(sum.events, 60u);
  EXPECT_EQ(sum.read.postings, 60u);
  EXPECT_EQ(sum.read.rows, 60u);
  EXPECT_EQ(sum.read.records, 60u);
  EXPECT_GT(sum.read.bytes, 60u * 300);
}

TEST_F(ExplainTest, TheRarestTermIsChosenAndNothingElseIsRead) {
  const Explanation explanation = explain(R"({"kinds":[1,7],"#t":["ten"]})");
  for (const ShardExplanation& shard : explanation.shards) {
    ASSERT_GE(shard.plan.options.size(), 2u);
    EXPECT_EQ(shard.plan.options[shard.plan.chosen].tag_letter, 't');
  }
  EXPECT_EQ(sum_of(explanation).read.records, 6u);
  EXPECT_EQ(sum_of(explanation).events, 6u);
}

TEST_F(ExplainTest, OnlyTheAuthorsShardIsAsked) {
  const std::string author = std::string(test::pubkey_hex(2));
  const Explanation explanation = explain(R"({"authors":[")" + author + R"("],"limit":4})");
  ASSERT_EQ(explanation.shards.size(), 1u);
  EXPECT_EQ(explanation.shards[0].events, 4u);
  EXPECT_EQ(explanation.shards[0].read.records, 4u);
  EXPECT_THAT(to_text(explanation), HasSubstr("1 of 3 shards asked, 4 events answered\n"));
}

TEST_F(ExplainTest, AWindowThatHoldsNothingReadsNoRecord) {
  const Explanation explanation = explain(R"({"kinds":[1],"until":1500000000})");
  EXPECT_EQ(sum_of(explanation).read.records, 0u);
  EXPECT_EQ(sum_of(explanation).events, 0u);
  EXPECT_THAT(to_text(explanation), HasSubstr("window  until 1500000000\n"));
  EXPECT_THAT(to_text(explain(R"({"since":2,"until":1})")), HasSubstr("no event can match"));
}

TEST_F(ExplainTest, TextAndJsonSayTheSame) {
  const Explanation explanation = explain(R"({"kinds":[7],"limit":5})");
  EXPECT_THAT(to_text(explanation), HasSubstr("limit   5\n"));
  EXPECT_THAT(to_text(explanation), HasSubstr("  * kind"));
  EXPECT_THAT(to_text(explanation), HasSubstr("shards asked, 5 events answered\n"));
  const std::string json = to_json(explanation);
  EXPECT_THAT(json, HasSubstr(R"({"shard_count":3,"limit":5,"filter":{"kinds":[7],"limit":5},)"));
  EXPECT_THAT(json, HasSubstr(R"("options":[{"by":"kind","terms":1,"postings":)"));
  EXPECT_THAT(json, HasSubstr(R"("chosen":0,"terms_read":1,"postings_read":)"));
}

TEST_F(ExplainTest, MistakesAreNamed) {
  EXPECT_TRUE(absl::IsNotFound(run_explain({folder_ + "/none", "{}"}).status()));
  const absl::Status wrong = run_explain({import_.store_path, R"({"kindz":[1]})"}).status();
  EXPECT_TRUE(absl::IsInvalidArgument(wrong));
  EXPECT_THAT(std::string(wrong.message()), HasSubstr("kindz"));
}

}  // namespace
}  // namespace gyre::app

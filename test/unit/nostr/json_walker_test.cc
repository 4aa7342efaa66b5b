#include "nostr/json_walker.h"

#include <gtest/gtest.h>

#include <string>

#include "support/padded_text.h"

namespace gyre::nostr {
namespace {

bool is_json(std::string_view content, std::uint32_t levels_max = JsonWalker::kLevelsMax,
             char padding = '\0') {
  const test::PaddedText text(content, padding);
  JsonWalker walker(text.view());
  if (!walker.skip_value(levels_max)) return false;
  walker.skip_blanks();
  return walker.is_at_end();
}

TEST(JsonWalker, JsonIsAccepted) {
  for (const char* text : {"null", " true ", "false", "0", "-1.5e+3", R"("")", R"("a\n\u00e9")",
                           "[]", "{}", "[[],{}]", R"({"a":1,"b":[2,{"c":null}],"":""})",
                           "[ 1 ,\t2\r,\n3 ]", R"({ "a" : { } , "b" : [ ] })"}) {
    EXPECT_TRUE(is_json(text)) << text;
  }
}

TEST(JsonWalker, EverythingElseIsRefused) {
  for (const char* text : {"",
                           " ",
                           "nul",
                           "nulll",
                           "True",
                           "[",
                           "]",
                           "{",
                           "}",
                           "[1",
                           "[1,",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{,}",
                           "{1:2}",
                           "{\"a\" 1}",
                           "{\"a\":1 \"b\":2}",
                           "[1}",
                           "{\"a\":1]",
                           "01",
                           "1.",
                           "'a'",
                           "\"a",
                           "\"\t\"",
                           "[1]]",
                           "[1][2]",
                           "[1] x",
                           "//",
                           "[1/**/]",
                           "NaN",
                           "\"a\"x",
                           "1\"a\"",
                           "\xef\xbb\xbf[]",
                           "\v1"}) {
    EXPECT_FALSE(is_json(text)) << text;
  }
}

TEST(JsonWalker, TextEndsWhereItEndsWhateverFollows) {
  for (const char padding : {']', '}', '"', ',', '1', ' ', 'l'}) {
    for (const char* text :
         {"[", "[1", "{\"a\":1", "{\"a", "\"a", "[1,", "nul", "-", "{", "[\"a\\"}) {
      EXPECT_FALSE(is_json(text, JsonWalker::kLevelsMax, padding)) << text << padding;
    }
    EXPECT_TRUE(is_json("[1]", JsonWalker::kLevelsMax, padding)) << padding;
    EXPECT_TRUE(is_json("12", JsonWalker::kLevelsMax, padding)) << padding;
  }
}

TEST(JsonWalker, NestingIsBoundedExactly) {
  const auto nested = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  EXPECT_TRUE(is_json(nested(14), 14));
  EXPECT_FALSE(is_json(nested(15), 14));
  EXPECT_TRUE(is_json("1", 0));
  EXPECT_FALSE(is_json("[]", 0));
  EXPECT_TRUE(is_json("[" + nested(3) + "," + nested(3) + "]", 4));
  EXPECT_TRUE(is_json(nested(JsonWalker::kLevelsMax)));
  EXPECT_FALSE(is_json(nested(JsonWalker::kLevelsMax + 1)));
  EXPECT_FALSE(is_json(std::string(200'000, '[')));
}

TEST(JsonWalker, HalfSurrogatesAreReported) {
  const test::PaddedText text(R"([{"\ud800":1},"x"])");
  JsonWalker walker(text.view());
  EXPECT_TRUE(walker.skip_value(8));
  EXPECT_TRUE(walker.has_lone_surrogate());
}

}  // namespace
}  // namespace gyre::nostr

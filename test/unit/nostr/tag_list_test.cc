#include "gyre/nostr/tag_list.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace gyre::nostr {
namespace {

std::string json_of(const TagList& tags) {
  std::string out;
  append_json(tags, out);
  EXPECT_EQ(out.size(), json_bytes(tags));
  return out;
}

TEST(TagList, HoldsTagsInOrder) {
  const TagList tags{{"e", "1", "wss://r"}, {"p"}, {"t", ""}};
  ASSERT_EQ(tags.size(), 3u);
  EXPECT_EQ(tags.item_count(), 6u);
  EXPECT_EQ(tags[0].size(), 3u);
  EXPECT_EQ(tags[0].name(), "e");
  EXPECT_EQ(tags[0].value(), "1");
  EXPECT_EQ(tags[0][2], "wss://r");
  EXPECT_EQ(tags[1].value(), "");
  EXPECT_EQ(tags[1].size(), 1u);
  EXPECT_EQ(tags[2].size(), 2u);
  EXPECT_TRUE(tags[0].contains("wss://r"));
  EXPECT_FALSE(tags[0].contains("wss:"));
}

TEST(TagList, FindsByNameFromAnyPlace) {
  const TagList tags{{"t", "a"}, {"e", "1"}, {"t", "b"}, {"te", "c"}};
  EXPECT_EQ(tags.find("t"), 0u);
  EXPECT_EQ(tags.find("t", 1), 2u);
  EXPECT_EQ(tags.find("t", 3), 4u);
  EXPECT_EQ(tags.find("x"), 4u);
  EXPECT_EQ(tags.find("t", 9), 4u);
  std::string values;
  tags.for_each("t", [&](TagView tag) { values += tag.value(); });
  EXPECT_EQ(values, "ab");
}

TEST(TagList, ContainsAnyLooksAtTheSecondItemOnly) {
  const TagList tags{{"t", "a", "b"}, {"t"}, {"e", "c"}};
  const std::vector<std::string_view> values = {"b", "c"};
  EXPECT_FALSE(tags.contains_any("t", values));
  EXPECT_TRUE(tags.contains_any("e", values));
  EXPECT_FALSE(tags.contains_any("t", {}));
}

TEST(TagList, IsWrittenAndReadBack) {
  for (const TagList& tags :
       {TagList{}, TagList{{"e"}}, TagList{{"", ""}},
        TagList{{"t", "quote\" back\\slash", "\n\t\b\f\r\x01\x1f"}, {"x", "\u00e9\U0001f355"}},
        TagList{{"long", std::string(100, 'x') + '"' + std::string(40, '\\')}}}) {
    const std::string json = json_of(tags);
    TagList back{{"left", "over"}};
    ASSERT_EQ(parse_tags(json, back), DecodeError::kNone) << json;
    EXPECT_EQ(back, tags) << json;
    EXPECT_EQ(json_of(back), json);
  }
}

TEST(TagList, OneTagIsAppended) {
  TagList tags{{"a"}};
  ASSERT_EQ(parse_tag(" [ \"e\" , \"\\u0041\\ud83c\\udf55\\/\" ] ", tags), DecodeError::kNone);
  EXPECT_EQ(tags, (TagList{{"a"}, {"e", "A\U0001f355/"}}));
  std::string out;
  append_json(tags[1], out);
  EXPECT_EQ(out, "[\"e\",\"A\U0001f355/\"]");
  EXPECT_EQ(out.size(), json_bytes(tags[1]));
}

TEST(TagList, RefusesWhatIsNoListOfLists) {
  TagList tags;
  for (const char* const json :
       {"", "null", "{}", "[[]]", "[\"t\"]", "[[\"t\",1]]", "[[\"t\",null]]", "[[\"t\",[\"x\"]]]",
        "[[\"t\"]", "[[\"t\",]]", "[[\"t\"],]", "[,[\"t\"]]", "[[\"t\"]] x", "[[\"t\\\"]]",
        "[[\"\\x\"]]", "[[\"\\u12g4\"]]", "[[\"\\u12\"]]", "[[\"a\nb\"]]", "[[\"\xff\"]]"}) {
    EXPECT_NE(parse_tags(json, tags), DecodeError::kNone) << json;
  }
  EXPECT_EQ(parse_tags("[[\"\\ud800\"]]", tags), DecodeError::kLoneSurrogate);
  EXPECT_EQ(parse_tags("[[\"\\udc00\\ud800\"]]", tags), DecodeError::kLoneSurrogate);
  EXPECT_EQ(parse_tags("[[\"\xc3\"]]", tags), DecodeError::kNotUtf8);
}

TEST(TagList, ViewsAreCopiedInPlace) {
  const TagList tags{{"e", "1"}, {"p"}};
  std::vector<std::vector<std::string_view>> views(5, {"x", "y", "z"});
  copy_views(tags, views);
  EXPECT_EQ(views, (std::vector<std::vector<std::string_view>>{{"e", "1"}, {"p"}}));
}

TEST(TagList, SortsValuesBehindTheName) {
  TagList tags{{"t", "b", "a"}, {"a", "z"}, {"p", "3", "1", "2"}};
  tags.sort_values();
  EXPECT_EQ(tags, (TagList{{"t", "a", "b"}, {"a", "z"}, {"p", "1", "2", "3"}}));
}

}  // namespace
}  // namespace gyre::nostr

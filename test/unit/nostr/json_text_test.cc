#include "gyre/nostr/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace gyre::nostr {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(text, out);
  return out;
}

TEST(JsonText, SevenCharactersHaveShortEscapes) {
  EXPECT_EQ(escaped("\n\"\\\r\t\b\f"), R"(\n\"\\\r\t\b\f)");
}

TEST(JsonText, OtherControlsAreWrittenAsLowerCaseHex) {
  EXPECT_EQ(escaped(std::string("\0\x01\x0b\x0e\x1f", 5)), R"(\u0000\u0001\u000b\u000e\u001f)");
}

TEST(JsonText, EverythingElseStandsForItself) {
  const std::string text = "/<>&'\x7f \xc2\x80 \xe2\x80\xa8 \xef\xbf\xbe \xf0\x9f\x98\x80";
  EXPECT_EQ(escaped(text), text);
}

TEST(JsonText, AppendsBehindWhatIsThere) {
  std::string out = "before:";
  append_escaped("a\tb", out);
  EXPECT_EQ(out, R"(before:a\tb)");
}

// Whatever the place of a special character in a block, and however long the text.
TEST(JsonText, EscapingDoesNotDependOnAlignment) {
  for (std::size_t length = 0; length < 70; ++length) {
    for (std::size_t at = 0; at < length; ++at) {
      std::string text(length, 'x');
      text[at] = '"';
      std::string expected(length, 'x');
      expected.replace(at, 1, "\\\"");
      ASSERT_EQ(escaped(text), expected);
    }
  }
}

TEST(JsonText, UnescapeUndoesEscaping) {
  std::string text;
  for (int c = 0; c < 128; ++c) text.push_back(static_cast<char>(c));
  text += "\xe6\x97\xa5 \\u0041 end";
  EXPECT_EQ(unescape(escaped(text)), text);
  EXPECT_EQ(unescape(""), "");
}

TEST(JsonText, CodePointsAreCountedNotBytes) {
  EXPECT_EQ(code_point_count(""), 0u);
  EXPECT_EQ(code_point_count("abc"), 3u);
  EXPECT_EQ(code_point_count("\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80"), 3u);
}

TEST(JsonText, InvalidUtf8IsRecognised) {
  EXPECT_TRUE(is_valid_utf8("\xf0\x9f\x98\x80 plain"));
  EXPECT_FALSE(is_valid_utf8("\xc0\xaf"));          // Overlong.
  EXPECT_FALSE(is_valid_utf8("\xed\xa0\x80"));      // Encoded surrogate.
  EXPECT_FALSE(is_valid_utf8("\xf4\x90\x80\x80"));  // Above U+10FFFF.
  EXPECT_FALSE(is_valid_utf8("\xe6\x97"));          // Cut off.
}

}  // namespace
}  // namespace gyre::nostr

#include "gyre/nostr/json_value.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace gyre::nostr {
namespace {

std::string every_byte(std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(i % 256);
  return text;
}

TEST(JsonValue, EscapingIntoABufferIsMeasuredExactly) {
  for (std::size_t bytes = 0; bytes < 600; ++bytes) {
    const std::string text = every_byte(bytes);
    // Exactly as large as it must be, so that a sanitizer sees a byte too far.
    std::vector<char> escaped(escaped_bytes(text));
    ASSERT_EQ(write_escaped(text, escaped.data()), escaped.data() + escaped.size());
    const std::string_view view(escaped.data(), escaped.size());
    std::string appended;
    append_escaped(text, appended);
    ASSERT_EQ(view, appended);
    std::vector<char> back(view.size());
    const char* const end = write_unescaped(view, back.data());
    ASSERT_EQ(std::string_view(back.data(), static_cast<std::size_t>(end - back.data())), text);
    ASSERT_EQ(unescape(view), text);
  }
}

TEST(JsonValue, StringsAreReadWithEveryEscape) {
  std::string text;
  ASSERT_EQ(parse_quoted(R"( "\"\\\/\b\f\n\r\t\u0000\u00e9\u20AC\ud83c\udf55 plain" )", text),
            DecodeError::kNone);
  EXPECT_EQ(text, std::string("\"\\/\b\f\n\r\t\0\u00e9\u20ac\U0001f355 plain", 24));
  for (const char* const json : {"\"\\", "\"\\\"", "\"\\q\"", "\"\\u\"", "\"\\u123\"", "x", "\"",
                                 "\"a\" \"b\"", "\"\x01\""}) {
    EXPECT_NE(parse_quoted(json, text), DecodeError::kNone) << json;
  }
}

TEST(JsonValue, KeysAndBooleans) {
  std::array<char, 16> out;
  const char* end = write_key("ids", out.data());
  EXPECT_EQ(std::string_view(out.data(), static_cast<std::size_t>(end - out.data())), "\"ids\":");
  end = write_bool(false, write_bool(true, out.data()));
  EXPECT_EQ(std::string_view(out.data(), static_cast<std::size_t>(end - out.data())), "truefalse");
  bool value = false;
  EXPECT_EQ(parse_bool(" true", value), DecodeError::kNone);
  EXPECT_TRUE(value);
  EXPECT_EQ(parse_bool("false ", value), DecodeError::kNone);
  EXPECT_FALSE(value);
  for (const char* const json : {"", "tru", "True", "1", "truefalse", "null"}) {
    EXPECT_NE(parse_bool(json, value), DecodeError::kNone) << json;
  }
}

TEST(JsonValue, HexOfOneLengthOnly) {
  std::vector<std::uint8_t> bytes(1024, 0xa5);
  const std::string json = '"' + to_hex(bytes) + '"';
  std::vector<std::uint8_t> back(1024);
  ASSERT_EQ(parse_hex(json, back), DecodeError::kNone);
  EXPECT_EQ(back, bytes);
  back.resize(1023);
  EXPECT_EQ(parse_hex(json, back), DecodeError::kBadHex);
  back.resize(1024);
  EXPECT_EQ(parse_hex("\"\\u0061" + json.substr(2), back), DecodeError::kNone);
  EXPECT_EQ(back, bytes);
}

TEST(JsonValue, ListsOfKeys) {
  std::vector<Bytes32> keys(20);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i].bytes.fill(static_cast<std::uint8_t>(i * 13));
  }
  for (std::size_t count = 0; count <= keys.size(); ++count) {
    const std::span<const Bytes32> some(keys.data(), count);
    std::string json(key_list_bytes(count), '\0');
    ASSERT_EQ(write_key_list(some, json.data()), json.data() + json.size());
    std::vector<Bytes32> back(3);
    ASSERT_EQ(parse_key_list(json, back), DecodeError::kNone) << json;
    EXPECT_TRUE(std::equal(some.begin(), some.end(), back.begin(), back.end()));
  }
  std::vector<Bytes32> back;
  EXPECT_EQ(parse_key_list("[1]", back), DecodeError::kBadList);
  EXPECT_EQ(parse_key_list("[\"00\"]", back), DecodeError::kBadHex);
  EXPECT_EQ(parse_key_list("[", back), DecodeError::kBadList);
}

TEST(JsonValue, ListsOfStrings) {
  for (const StringList& list : {StringList{}, StringList{""}, StringList{"a", "\"", "\n\x02"}}) {
    std::string json(string_list_bytes(list), '\0');
    ASSERT_EQ(write_string_list(list, json.data()), json.data() + json.size());
    StringList back{"left", "over"};
    ASSERT_EQ(parse_string_list(json, back), DecodeError::kNone) << json;
    EXPECT_EQ(back, list);
  }
}

}  // namespace
}  // namespace gyre::nostr

#include "nostr/json_string.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "support/padded_text.h"

namespace gyre::nostr {
namespace {

// Canonical form of the string whose raw text (without quotes) is given.
std::optional<std::string> canonical(std::string_view raw) {
  const test::PaddedText text(std::string(raw) + "\" tail");
  const char* const end = text.view().data() + text.view().size();
  const auto out = std::make_unique<char[]>(raw.size() + kStringSlackBytes);
  const StringCopy copy = copy_canonical(text.view().data(), end, out.get());
  const StringSkip skip = skip_string(text.view().data(), end);
  EXPECT_EQ(copy.verdict, skip.verdict);
  if (copy.verdict != StringVerdict::kBroken) {
    EXPECT_EQ(copy.raw_end, text.view().data() + raw.size());
    EXPECT_EQ(skip.raw_end, copy.raw_end);
  }
  if (copy.verdict != StringVerdict::kGood) return std::nullopt;
  return std::string(out.get(), copy.out_end);
}

StringVerdict verdict(std::string_view text_after_quote) {
  const test::PaddedText text(text_after_quote, '"');
  const auto out = std::make_unique<char[]>(text_after_quote.size() + kStringSlackBytes);
  return copy_canonical(text.view().data(), text.view().data() + text.view().size(), out.get())
      .verdict;
}

TEST(JsonString, PlainTextIsCopied) {
  EXPECT_EQ(canonical(""), "");
  EXPECT_EQ(canonical("hello"), "hello");
  EXPECT_EQ(canonical(std::string(1000, 'y')), std::string(1000, 'y'));
  EXPECT_EQ(canonical("\xe6\x97\xa5\x7f"), "\xe6\x97\xa5\x7f");
}

TEST(JsonString, EscapesBecomeCanonical) {
  EXPECT_EQ(canonical(R"(\"\\\/\b\f\n\r\t)"), R"(\"\\/\b\f\n\r\t)");
  EXPECT_EQ(canonical(R"(\u0041\u00e9\u00E9\u65E5)"), "A\xc3\xa9\xc3\xa9\xe6\x97\xa5");
  EXPECT_EQ(canonical(R"(\u0000\u001F\u000b)"), R"(\u0000\u001f\u000b)");
  EXPECT_EQ(canonical(R"(\u0022\u005c\u005C\u000a\u0009\u002f)"), R"(\"\\\\\n\t/)");
  EXPECT_EQ(canonical(R"(\uD83D\ude00)"), "\xf0\x9f\x98\x80");
  EXPECT_EQ(canonical(R"(\u07ff\u0800\uffff\udbff\udfff)"),
            "\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf");
}

TEST(JsonString, EscapesAreFoundAtAnyPlace) {
  for (std::size_t before = 0; before < 40; ++before) {
    const std::string plain(before, 'p');
    ASSERT_EQ(canonical(plain + "\\n" + plain), plain + "\\n" + plain);
    ASSERT_EQ(canonical(plain + "\\u0041" + plain), plain + "A" + plain);
  }
}

TEST(JsonString, HalfSurrogatePairsHaveNoTextButAnEnd) {
  for (const char* raw : {R"(\ud800)", R"(\udc00)", R"(\ud800x)", R"(\ud800\n)", R"(\ud800\u0041)",
                          R"(\udc00\ud800)", R"(\ud800\ud800\udc00)"}) {
    EXPECT_EQ(canonical(raw), std::nullopt) << raw;
    EXPECT_EQ(verdict(std::string(raw) + "\""), StringVerdict::kHalfSurrogate) << raw;
  }
}

TEST(JsonString, WhatIsNoJsonIsRefused) {
  for (const char* raw :
       {R"(\x41)", R"(\u12G4)", R"(\u123)", R"(\')", R"(\ud800\u12G4)", "a\nb", "\x1f", "\\\n"}) {
    EXPECT_EQ(verdict(std::string(raw) + "\""), StringVerdict::kBroken) << raw;
  }
  const std::string nul("a\0b\"", 4);
  EXPECT_EQ(verdict(nul), StringVerdict::kBroken);
}

// The padding in these is made of quotes, which must not close the string.
TEST(JsonString, TheEndOfTheTextClosesNothing) {
  for (std::size_t length = 0; length < 40; ++length) {
    ASSERT_EQ(verdict(std::string(length, 'x')), StringVerdict::kBroken);
  }
  EXPECT_EQ(verdict("\\"), StringVerdict::kBroken);
  EXPECT_EQ(verdict("abc\\u00"), StringVerdict::kBroken);
  EXPECT_EQ(verdict("\\ud800"), StringVerdict::kBroken);
}

TEST(JsonString, HexIsRecognisedHoweverItIsEscaped) {
  const auto hex = [](std::string_view raw, std::size_t digits) -> std::string {
    const test::PaddedText text(std::string(raw) + "\"");
    const auto scratch = std::make_unique<char[]>(raw.size() + kStringSlackBytes);
    const char* const found = plain_hex(text.view().data(), text.view().data() + text.view().size(),
                                        digits, scratch.get());
    return found == nullptr ? "none" : std::string(found, digits);
  };
  EXPECT_EQ(hex("0123456789abcdef", 16), "0123456789abcdef");
  EXPECT_EQ(hex("\\u00301\\u0061b", 4), "01ab");
  EXPECT_EQ(hex("0123456789abcdeF", 16), "none");
  EXPECT_EQ(hex("0123456789abcde", 16), "none");
  EXPECT_EQ(hex("0123456789abcdef0", 16), "none");
  EXPECT_EQ(hex("", 128), "none");
}

TEST(JsonString, DecodedCodePointsAreCounted) {
  EXPECT_EQ(decoded_code_point_count(""), 0u);
  EXPECT_EQ(decoded_code_point_count(R"(a\n\\\u0001\")"), 5u);
  EXPECT_EQ(decoded_code_point_count("\xe6\x97\xa5\\\\\xf0\x9f\x98\x80"), 3u);
}

}  // namespace
}  // namespace gyre::nostr

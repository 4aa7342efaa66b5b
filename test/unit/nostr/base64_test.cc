#include "gyre/nostr/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace gyre::nostr {
namespace {

std::string written(ByteSpan bytes) {
  std::string out(base64_chars(bytes.size()), '\0');
  EXPECT_EQ(write_base64(bytes, out.data()), out.data() + out.size());
  return out;
}

bool is_taken(std::string_view text) {
  std::vector<std::uint8_t> out(base64_bytes_max(text.size()));
  return parse_base64(text, out.data()).has_value();
}

TEST(Base64, HasTheVectorsOfRfc4648) {
  for (const auto& [plain, text] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {"f", "Zg=="},
                                                        {"fo", "Zm8="},
                                                        {"foo", "Zm9v"},
                                                        {"foob", "Zm9vYg=="},
                                                        {"fooba", "Zm9vYmE="},
                                                        {"foobar", "Zm9vYmFy"}}) {
    EXPECT_EQ(written(as_bytes(plain)), text);
    std::vector<std::uint8_t> out(base64_bytes_max(text.size()));
    const auto bytes = parse_base64(text, out.data());
    ASSERT_TRUE(bytes.has_value());
    out.resize(*bytes);
    EXPECT_EQ(as_text(out), plain);
  }
}

TEST(Base64, EveryByteComesBack) {
  std::vector<std::uint8_t> bytes;
  for (int i = 0; i < 600; ++i) {
    const std::string text = written(bytes);
    std::vector<std::uint8_t> out(base64_bytes_max(text.size()));
    ASSERT_EQ(parse_base64(text, out.data()), bytes.size());
    out.resize(bytes.size());
    ASSERT_EQ(out, bytes);
    bytes.push_back(static_cast<std::uint8_t>(i * 7));
  }
}

TEST(Base64, TakesOneTextForEachValueOnly) {
  for (const char* const text : {"Zg", "Zg=", "Zg==Zg==", "Zh==", "Zm9=", "Z===", "====", "Zm=v",
                                 "Zm9v\n", " Zm9v", "Zm-v", "Zm_v", "Zm9vZ", "=m9v",
                                 "Z\xff"
                                 "9v"}) {
    EXPECT_FALSE(is_taken(text)) << text;
  }
  EXPECT_TRUE(is_taken("+/+/"));
}

}  // namespace
}  // namespace gyre::nostr

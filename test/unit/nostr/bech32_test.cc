#include "gyre/nostr/bech32.h"

#include <gtest/gtest.h>

#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace gyre::nostr {
namespace {

std::string written(std::string_view prefix, const std::vector<std::uint8_t>& bytes) {
  std::string out(bech32_chars(prefix.size(), bytes.size()), '\0');
  EXPECT_EQ(write_bech32(prefix, bytes, out.data()), out.data() + out.size());
  return out;
}

TEST(Bech32, HasTheValidVectorsOfBip173) {
  // Whose data is a number of whole bytes.
  for (const std::string text :
       {"A12UEL5L", "a12uel5l",
        "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1"
        "tt5tgs",
        "split1checkupstagehandshakeupstreamerranterredcaperred2y9e3w"}) {
    Bech32 result;
    EXPECT_EQ(parse_bech32(text, result), DecodeError::kNone) << text;
    std::string lower = text;
    for (char& c : lower) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(written(result.prefix, result.bytes), lower);
  }
}

TEST(Bech32, RefusesTheInvalidVectorsOfBip173) {
  using enum DecodeError;
  const std::vector<std::pair<std::string, DecodeError>> cases = {
      {"\x20"
       "1nwldj5",
       kBadCharacter},
      {"\x7f"
       "1axkwrx",
       kBadCharacter},
      {"\x80"
       "1eym55h",
       kBadCharacter},
      {"pzry9x0s0muk", kBadPrefix},
      {"1pzry9x0s0muk", kBadPrefix},
      {"x1b4n0q5v", kBadCharacter},
      {"li1dgmt3", kTooShort},
      {"de1lg7wt\xff", kBadCharacter},
      {"A1G7SGD8", kBadChecksum},
      {"10a06t8", kBadPrefix},
      {"1qzzfhee", kBadPrefix},
      {"A12uEL5L", kBadCharacter},
      {"", kBadPrefix},
      {std::string(5'001, 'q'), kTooLong},
  };
  for (const auto& [text, expected] : cases) {
    Bech32 result;
    EXPECT_EQ(parse_bech32(text, result), expected) << text;
  }
}

TEST(Bech32, EveryLengthComesBackAndEveryChangedCharacterIsSeen) {
  for (std::size_t length = 0; length < 70; ++length) {
    std::vector<std::uint8_t> bytes(length);
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<std::uint8_t>(41 * i + length);
    const std::string text = written("npub", bytes);
    Bech32 result;
    ASSERT_EQ(parse_bech32(text, result), DecodeError::kNone);
    EXPECT_EQ(result.prefix, "npub");
    EXPECT_EQ(result.bytes, bytes);
    for (std::size_t at = 5; at < text.size(); ++at) {
      std::string changed = text;
      changed[at] = changed[at] == 'q' ? 'p' : 'q';
      EXPECT_NE(parse_bech32(changed, result), DecodeError::kNone) << changed;
    }
  }
}

TEST(Bech32, BitsLeftOverMustBeZeroAndFew) {
  // 32, 0, 1 and 2 values of five bits with right checksums.
  Bech32 result;
  EXPECT_EQ(parse_bech32("abcdef1qpzry9x8gf2tvdw0s3jn54khce6mua7lmqqqxw", result),
            DecodeError::kNone);
  EXPECT_EQ(result.bytes.size(), 20u);
  EXPECT_EQ(parse_bech32("?1ezyfcl", result), DecodeError::kNone);
  EXPECT_TRUE(result.bytes.empty());
  EXPECT_EQ(parse_bech32("x1qm7ssx4", result), DecodeError::kBadPadding);
  EXPECT_EQ(parse_bech32("x1pxgy9m8", result), DecodeError::kBadPadding);
  EXPECT_EQ(parse_bech32("x1rphwvk3g", result), DecodeError::kBadPadding);
  EXPECT_EQ(parse_bech32("x1ry9j69rq", result), DecodeError::kNone);
  EXPECT_EQ(result.bytes, std::vector<std::uint8_t>{25});
}

}  // namespace
}  // namespace gyre::nostr

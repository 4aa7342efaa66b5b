#include "gyre/nostr/timestamp.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gyre/nostr/kind_name.h"

namespace gyre::nostr {
namespace {

TEST(Timestamp, IsWrittenAndReadAsADate) {
  const std::vector<std::pair<std::uint64_t, std::string>> cases = {
      {0, "1970-01-01T00:00:00Z"},
      {951'782'400, "2000-02-29T00:00:00Z"},
      {1'767'225'600, "2026-01-01T00:00:00Z"},
      {2'147'483'648, "2038-01-19T03:14:08Z"},
      {kDateSecondsMax, "9999-12-31T23:59:59Z"},
      {kDateSecondsMax + 1, "253402300800"},
      {9'223'372'036'854'775'807, "9223372036854775807"},
  };
  for (const auto& [seconds, text] : cases) {
    EXPECT_EQ(timestamp_text(seconds), text);
    EXPECT_EQ(parse_timestamp(text), seconds);
    EXPECT_EQ(parse_timestamp(std::to_string(seconds)), seconds);
  }
  EXPECT_EQ(parse_timestamp("2026-01-01"), 1'767'225'600u);
}

TEST(Timestamp, RefusesWhatIsNone) {
  for (const char* const text :
       {"", "-1", "1.5", "01", "9223372036854775808", "2026-02-29", "2026-13-01", "1969-12-31",
        "2026-01-01T24:00:00Z", "2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00", "2026-01-01T00:00:00+01:00", "2026-1-1", "2026-01-01 ", "now"}) {
    EXPECT_EQ(parse_timestamp(text), std::nullopt) << text;
  }
}

TEST(KindName, NamesWhatHasOne) {
  EXPECT_EQ(kind_name(0), "profile");
  EXPECT_EQ(kind_name(1), "short text note");
  EXPECT_EQ(kind_name(30'023), "long-form article");
  EXPECT_EQ(kind_name(39'089), "starter pack");
  EXPECT_EQ(kind_name(12), "");
  EXPECT_EQ(kind_name(65'535), "");
  EXPECT_EQ(kind_class_name(kind_class(30'023)), "addressable");
  EXPECT_EQ(kind_class_name(kind_class(1)), "regular");
}

}  // namespace
}  // namespace gyre::nostr

#include "gyre/nostr/event_binary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

using Bytes = std::vector<std::uint8_t>;

Event sample() {
  Event event;
  const std::string json = test::sign_event({
      .created_at = 1'767'225'600,
      .kind = 300,
      .tags = {{"t", "red"}, {"empty", ""}, {"long", std::string(200, 'x')}},
      .content = "quote \" and \n line",
  });
  EXPECT_EQ(parse_event(json, event), DecodeError::kNone);
  return event;
}

Bytes bytes_of(const Event& event) {
  Bytes out;
  append_binary(event, out);
  EXPECT_EQ(out.size(), binary_bytes(event));
  return out;
}

TEST(EventBinary, HasTheLayoutOfItsHeader) {
  Event event;
  event.id.bytes.fill(1);
  event.pubkey.bytes.fill(2);
  event.created_at = 300;  // 0b10'0101100
  event.kind = 1;
  event.tags.append({"t", "ab"});
  event.content = "c";
  event.sig.fill(3);
  Bytes expected(32, 1);
  expected.insert(expected.end(), 32, 2);
  for (const int byte :
       {0x2c, 0x82, 0x81, 0x81, 0x82, 0x81, 't' + 0, 0x82, 'a' + 0, 'b' + 0, 0x81, 'c' + 0}) {
    expected.push_back(static_cast<std::uint8_t>(byte));
  }
  expected.insert(expected.end(), 64, 3);
  EXPECT_EQ(bytes_of(event), expected);
}

TEST(EventBinary, ComesBackAsItWas) {
  const Event event = sample();
  Event back;
  back.content = "left over";
  back.tags.append({"left", "over"});
  ASSERT_EQ(parse_binary(bytes_of(event), back), DecodeError::kNone);
  EXPECT_EQ(back, event);
  EXPECT_TRUE(has_right_id(back));
  for (const std::uint64_t created_at :
       {std::uint64_t{0}, std::uint64_t{127}, std::uint64_t{128}, kCreatedAtMax}) {
    Event other = event;
    other.created_at = created_at;
    ASSERT_EQ(parse_binary(bytes_of(other), back), DecodeError::kNone);
    EXPECT_EQ(back, other);
  }
}

TEST(EventBinary, NoFrontOfItIsTakenForAWhole) {
  const Bytes whole = bytes_of(sample());
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    const Bytes front(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes));
    Event event;
    EXPECT_NE(parse_binary(front, event), DecodeError::kNone) << bytes;
  }
  Bytes longer = whole;
  longer.push_back(0);
  Event event;
  EXPECT_EQ(parse_binary(longer, event), DecodeError::kTrailingBytes);
}

// From the time on, before which stand 64 bytes.
DecodeError parse_rest(std::initializer_list<int> rest) {
  Bytes bytes(64, 0);
  for (const int byte : rest) bytes.push_back(static_cast<std::uint8_t>(byte));
  bytes.insert(bytes.end(), 64, 0);
  Event event;
  return parse_binary(bytes, event);
}

TEST(EventBinary, RefusesWhatHasAShorterFormOrIsOutOfRange) {
  using enum DecodeError;
  EXPECT_EQ(parse_rest({0x81, 0x81, 0x80, 0x80}), kNone);
  EXPECT_EQ(parse_rest({0x01, 0x80, 0x81, 0x80, 0x80}), kBadVarint);
  EXPECT_EQ(parse_rest({0, 0, 0, 0, 0, 0, 0, 0, 0, 0x82, 0x81, 0x80, 0x80}), kBadVarint);
  EXPECT_EQ(parse_rest({0, 0, 0, 0, 0, 0, 0, 0, 0, 0x81, 0x81, 0x80, 0x80}), kBadNumber);
  EXPECT_EQ(parse_rest({0x81, 0, 0, 0x84, 0x80, 0x80}), kBadNumber);  // kind 65536
  EXPECT_EQ(parse_rest({0x81, 0x81, 0x81, 0x80, 0x80}), kBadTags);    // a tag without items
  EXPECT_EQ(parse_rest({0x81, 0x81, 0x80, 0x81, 0xff}), kNotUtf8);
  EXPECT_EQ(parse_rest({0x81, 0x81, 0x80, 0x00, 0xff}), kTooShort);    // content longer than all
  EXPECT_NE(parse_rest({0x81, 0x81, 0x7f, 0x7f, 0x7f, 0xff}), kNone);  // tags without number
}

}  // namespace
}  // namespace gyre::nostr

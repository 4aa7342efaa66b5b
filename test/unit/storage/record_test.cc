#include "storage/record.h"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "support/event_factory.h"

namespace gyre::storage {
namespace {

std::vector<std::uint8_t> concatenated(const std::array<ByteSpan, 2>& parts) {
  std::vector<std::uint8_t> payload(parts[0].begin(), parts[0].end());
  payload.insert(payload.end(), parts[1].begin(), parts[1].end());
  return payload;
}

std::vector<std::uint8_t> event_record(const std::vector<Sequence>& retired) {
  const std::vector<std::uint8_t> event =
      test::pack_unsigned_event({.tags = {{"t", "x"}}, .content = "text"});
  EventRecordHead head;
  return concatenated(encode_event_record(retired, nostr::PackedEventView(event.data()), head));
}

TEST(Record, EventRecordComesBackAsItWas) {
  const std::vector<std::uint8_t> event =
      test::pack_unsigned_event({.tags = {{"t", "x"}}, .content = "text"});
  const std::vector<std::vector<Sequence>> lists = {{}, {7}, {1, 2}, {0, 5, kSequenceMax}};
  for (const std::vector<Sequence>& retired : lists) {
    const std::vector<std::uint8_t> payload = event_record(retired);
    EXPECT_EQ((payload.size() - event.size()) % 8, 0u);
    const auto decoded = decode_event_record(payload);
    ASSERT_TRUE(decoded.has_value());
    EXPECT_EQ(decoded->retired, retired);
    EXPECT_EQ(
        std::vector<std::uint8_t>(decoded->event.bytes().begin(), decoded->event.bytes().end()),
        event);
    EXPECT_EQ(event_of_record(payload).json(), decoded->event.json());
  }
}

TEST(Record, ScratchOfALongListDoesNotLeakIntoTheNext) {
  const std::vector<std::uint8_t> event = test::pack_unsigned_event({});
  const nostr::PackedEventView view(event.data());
  EventRecordHead head;
  (void)encode_event_record(std::vector<Sequence>{1, 2, 3, 4, 5}, view, head);
  const auto payload = concatenated(encode_event_record(std::vector<Sequence>{9}, view, head));
  const auto decoded = decode_event_record(payload);
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(decoded->retired, std::vector<Sequence>{9});
  EXPECT_EQ(payload, concatenated([&] {
              static EventRecordHead fresh;
              return encode_event_record(std::vector<Sequence>{9}, view, fresh);
            }()));
}

TEST(Record, CutEventRecordIsMalformed) {
  const std::vector<std::uint8_t> payload = event_record({1, 2, 3});
  for (std::size_t bytes = 0; bytes < payload.size(); ++bytes) {
    EXPECT_FALSE(decode_event_record(ByteSpan(payload).first(bytes)).has_value()) << bytes;
  }
}

TEST(Record, ListLongerThanTheRecordIsMalformed) {
  for (const std::uint32_t count : {4u, 1000u, 0x4000'0000u, 0xffff'ffffu}) {
    std::vector<std::uint8_t> payload = event_record({1, 2});
    std::memcpy(payload.data(), &count, sizeof count);
    EXPECT_FALSE(decode_event_record(payload).has_value()) << count;
  }
}

TEST(Record, RetireRecordComesBackAsItWas) {
  for (const auto reason : {RetireReason::kExpired, RetireReason::kDeleted, RetireReason::kVanished,
                            RetireReason::kOperator}) {
    for (const auto& retired : {std::vector<Sequence>{}, std::vector<Sequence>{3, 1, 2}}) {
      const auto decoded = decode_retire_record(encode_retire_record({reason, retired}));
      ASSERT_TRUE(decoded.has_value());
      EXPECT_EQ(decoded->reason, reason);
      EXPECT_EQ(decoded->retired, retired);
    }
  }
}

TEST(Record, RetireRecordOfAnotherLengthOrReasonIsMalformed) {
  const std::vector<std::uint8_t> good = encode_retire_record({RetireReason::kExpired, {1, 2}});
  for (std::size_t bytes = 0; bytes < good.size(); ++bytes) {
    EXPECT_FALSE(decode_retire_record(ByteSpan(good).first(bytes)).has_value()) << bytes;
  }
  std::vector<std::uint8_t> longer = good;
  longer.push_back(0);
  EXPECT_FALSE(decode_retire_record(longer).has_value());
  constexpr std::uint8_t kOthers[] = {0, 6, 255};
  for (const std::uint8_t reason : kOthers) {
    std::vector<std::uint8_t> changed = good;
    changed[0] = reason;
    EXPECT_FALSE(decode_retire_record(changed).has_value()) << int{reason};
  }
}

}  // namespace
}  // namespace gyre::storage

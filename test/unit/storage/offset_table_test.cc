#include "storage/offset_table.h"

#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

constexpr std::uint64_t kId = 0x0123456789abcdef;

// A segment whose records are nothing but zeros, and its table.
struct Segment {
  explicit Segment(std::vector<OffsetPair> pairs_in) : pairs(std::move(pairs_in)) {
    header.id = kId;
    header.end_as_written = 1 << 30;
    header.records_end = kSegmentHeaderBytes + 16;
    header.event_count = static_cast<std::uint32_t>(pairs.size());
    bytes.resize(header.records_end, 0);
    const std::vector<std::uint8_t> table = OffsetTable::encode(pairs, record_seed(kId));
    bytes.insert(bytes.end(), table.begin(), table.end());
  }

  std::vector<OffsetPair> pairs;
  SegmentHeader header;
  std::vector<std::uint8_t> bytes;
};

std::vector<OffsetPair> some_pairs(std::uint32_t count) {
  SeededRandom random(count);
  std::vector<OffsetPair> pairs;
  OffsetPair pair{kSegmentHeaderBytes, kSegmentHeaderBytes};
  for (std::uint32_t i = 0; i < count; ++i) {
    pairs.push_back(pair);
    pair.in_file += 64;
    pair.as_written += 64 + 8 * static_cast<std::uint32_t>(random.next_u64() % 20);
  }
  return pairs;
}

TEST(OffsetTable, FindsEveryOffsetAndNoOther) {
  for (const std::uint32_t count : {0u, 1u, 2u, 511u, 512u, 513u, 1024u, 3000u}) {
    const Segment segment(some_pairs(count));
    const auto table = OffsetTable::open(segment.bytes, segment.header);
    ASSERT_TRUE(table.ok()) << table.status().ToString();
    EXPECT_EQ(table->size(), count);
    EXPECT_TRUE(table->is_sound());
    EXPECT_FALSE(table->find(0).has_value());
    EXPECT_FALSE(table->find(UINT32_MAX).has_value());
    for (const OffsetPair& pair : segment.pairs) {
      ASSERT_EQ(table->find(pair.as_written), pair.in_file) << count;
      EXPECT_FALSE(table->find(pair.as_written + 1).has_value());
      EXPECT_FALSE(table->find(pair.as_written - 8).has_value());
    }
  }
}

TEST(OffsetTable, EveryFlippedBitIsNoticed) {
  const Segment segment(some_pairs(600));
  for (std::size_t i = segment.header.records_end; i < segment.bytes.size(); ++i) {
    std::vector<std::uint8_t> bad = segment.bytes;
    bad[i] ^= static_cast<std::uint8_t>(1 << i % 8);
    const auto table = OffsetTable::open(bad, segment.header);
    EXPECT_FALSE(table.ok() && table->is_sound()) << i;
  }
}

TEST(OffsetTable, AFileOfAnotherLengthIsRefused) {
  const Segment segment(some_pairs(10));
  std::vector<std::uint8_t> bytes = segment.bytes;
  bytes.push_back(0);
  EXPECT_FALSE(OffsetTable::open(bytes, segment.header).ok());
  bytes.resize(bytes.size() - 9);
  EXPECT_FALSE(OffsetTable::open(bytes, segment.header).ok());
  bytes.resize(segment.header.records_end);
  EXPECT_FALSE(OffsetTable::open(bytes, segment.header).ok());
}

}  // namespace
}  // namespace gyre::storage

#include "relay/result_batch.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/event_factory.h"

namespace gyre::relay {
namespace {

std::vector<std::uint8_t> event_of(std::size_t content_bytes) {
  return test::pack_unsigned_event({.content = std::string(content_bytes, 'x')});
}

TEST(ResultBatch, EventsComeOutAsTheyWentIn) {
  ResultBatchWriter writer;
  EXPECT_TRUE(writer.is_empty());
  std::vector<std::vector<std::uint8_t>> events;
  // Every length modulo 4, so that padding is met.
  for (std::size_t bytes = 0; bytes < 9; ++bytes) {
    events.push_back(event_of(bytes));
    writer.append(nostr::PackedEventView(events.back().data()));
  }
  EXPECT_FALSE(writer.is_empty());
  ResultBatchReader reader(writer.take());
  EXPECT_TRUE(writer.is_empty());
  for (const auto& event : events) {
    ASSERT_FALSE(reader.is_at_end());
    const ByteSpan bytes = reader.event().bytes();
    EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), event);
    EXPECT_GE(bytes.data(), reader.block().data());
    reader.advance();
  }
  EXPECT_TRUE(reader.is_at_end());
}

TEST(ResultBatch, EmptyOneTakesNoBlock) {
  ResultBatchWriter writer;
  EXPECT_TRUE(writer.take().is_null());
  EXPECT_TRUE(ResultBatchReader().is_at_end());
  EXPECT_TRUE(ResultBatchReader(SharedBytes()).is_at_end());
}

TEST(ResultBatch, IsFullOnceItHasGrownToItsSize) {
  ResultBatchWriter writer;
  const auto event = event_of(1000);
  std::size_t count = 0;
  while (!writer.is_full()) {
    writer.append(nostr::PackedEventView(event.data()));
    ++count;
  }
  EXPECT_EQ(count, (ResultBatchWriter::kFullBytes + event.size() + 3) / ((event.size() + 7) & ~3u));
  const SharedBytes block = writer.take();
  EXPECT_GE(block.size(), ResultBatchWriter::kFullBytes);
  EXPECT_FALSE(writer.is_full());
}

TEST(ResultBatch, OneEventMayBeLargerThanAFullBatch) {
  ResultBatchWriter writer;
  const auto event = event_of(3 * ResultBatchWriter::kFullBytes);
  writer.append(nostr::PackedEventView(event.data()));
  EXPECT_TRUE(writer.is_full());
  ResultBatchReader reader(writer.take());
  EXPECT_EQ(reader.event().bytes().size(), event.size());
  reader.advance();
  EXPECT_TRUE(reader.is_at_end());
}

}  // namespace
}  // namespace gyre::relay

#include "storage/log_scanner.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/random.h"

namespace gyre::storage {
namespace {

using Step = LogScanner::Step;

// Builds the bytes of a segment by hand.
class SegmentBuilder {
 public:
  SegmentBuilder() { bytes_.resize(kSegmentHeaderBytes, 0); }

  std::uint32_t add(std::string_view payload, std::uint32_t synced = 0, std::uint8_t type = 1) {
    const auto offset = static_cast<std::uint32_t>(bytes_.size());
    const std::uint64_t size = record_bytes(payload.size());
    bytes_.resize(offset + size, 0);
    std::uint8_t* const at = bytes_.data() + offset;
    std::copy(payload.begin(), payload.end(), at + kRecordHeaderBytes);
    encode_record_header(
        at, {0, static_cast<std::uint32_t>(payload.size()), type, next_index_, synced});
    seal_record(record_seed(header_.id), at, size);
    if (type != kMarkType) ++next_index_;
    return offset;
  }
  void add_zeros(std::size_t count) { bytes_.resize(bytes_.size() + count, 0); }

  std::vector<std::uint8_t>& bytes() { return bytes_; }
  const SegmentHeader& header() const { return header_; }
  LogScanner scanner() const { return {bytes_, header_, kSegmentHeaderBytes, 100}; }

 private:
  SegmentHeader header_{3, 0xfeedface12345678, 100};
  std::vector<std::uint8_t> bytes_;
  std::uint32_t next_index_ = 0;
};

std::vector<std::string> payloads(LogScanner& scanner, Step& last) {
  std::vector<std::string> found;
  LogRecord record;
  while ((last = scanner.next(record)) == Step::kRecord) {
    found.emplace_back(as_text(record.payload));
  }
  return found;
}

TEST(LogScanner, GivesRecordsWithPositionsAndNumbers) {
  SegmentBuilder segment;
  const std::uint32_t first = segment.add("one", 0, 2);
  const std::uint32_t second = segment.add("");
  segment.add_zeros(100);
  LogScanner scanner = segment.scanner();
  LogRecord record;
  ASSERT_EQ(scanner.next(record), Step::kRecord);
  EXPECT_EQ(record.type, RecordType::kRetire);
  EXPECT_EQ(record.position, LogPosition::at(3, first));
  EXPECT_EQ(record.end, LogPosition::at(3, second));
  EXPECT_EQ(record.number, 100u);
  EXPECT_EQ(as_text(record.payload), "one");
  ASSERT_EQ(scanner.next(record), Step::kRecord);
  EXPECT_EQ(record.number, 101u);
  EXPECT_TRUE(record.payload.empty());
  EXPECT_EQ(scanner.next(record), Step::kEnd);
  EXPECT_EQ(scanner.next(record), Step::kEnd);
  EXPECT_EQ(scanner.examine_remains().bytes, 0u);
}

TEST(LogScanner, MarksArePassedOverAndNotCounted) {
  SegmentBuilder segment;
  segment.add("one");
  segment.add("", 0, kMarkType);
  segment.add("two");
  LogScanner scanner = segment.scanner();
  LogRecord record;
  ASSERT_EQ(scanner.next(record), Step::kRecord);
  EXPECT_FALSE(scanner.is_cleanly_ended());
  ASSERT_EQ(scanner.next(record), Step::kRecord);
  EXPECT_EQ(record.number, 101u);
  EXPECT_FALSE(scanner.is_cleanly_ended());
  segment.add("", 0, kMarkType);
  LogScanner again = segment.scanner();
  while (again.next(record) == Step::kRecord) {
  }
  EXPECT_TRUE(again.is_cleanly_ended());
}

TEST(LogScanner, ARecordOfAnotherSegmentDoesNotCount) {
  SegmentBuilder segment;
  segment.add("one");
  SegmentHeader other = segment.header();
  other.id ^= 1;
  LogScanner scanner(segment.bytes(), other, kSegmentHeaderBytes, 100);
  LogRecord record;
  EXPECT_EQ(scanner.next(record), Step::kDamaged);
}

TEST(LogScanner, ARecordInTheWrongPlaceDoesNotCount) {
  SegmentBuilder segment;
  segment.add("one");
  segment.add("two");
  SegmentBuilder moved;
  moved.bytes().insert(moved.bytes().end(), segment.bytes().begin() + 64 + 24,
                       segment.bytes().end());
  LogScanner scanner = moved.scanner();
  LogRecord record;
  EXPECT_EQ(scanner.next(record), Step::kDamaged);
}

TEST(LogScanner, EveryFlippedBitOfARecordIsNoticed) {
  SegmentBuilder segment;
  segment.add("some text that is not a multiple of eight");
  const auto good = segment.bytes();
  for (std::size_t bit = kSegmentHeaderBytes * 8; bit < good.size() * 8; ++bit) {
    segment.bytes() = good;
    segment.bytes()[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    LogScanner scanner = segment.scanner();
    LogRecord record;
    EXPECT_EQ(scanner.next(record), Step::kDamaged) << bit;
  }
}

TEST(LogScanner, EveryCutOfTheLastRecordIsItsEnd) {
  SegmentBuilder segment;
  segment.add("first");
  const std::uint32_t last = segment.add("the last of them");
  const auto good = segment.bytes();
  for (std::size_t size = last; size < good.size(); ++size) {
    segment.bytes().assign(good.begin(), good.begin() + static_cast<int>(size));
    LogScanner scanner = segment.scanner();
    Step step;
    EXPECT_EQ(payloads(scanner, step).size(), 1u);
    EXPECT_EQ(scanner.offset(), last);
    const auto remains = scanner.examine_remains();
    EXPECT_LE(remains.bytes, size - last);
    EXPECT_FALSE(remains.proof_of_damage);
  }
}

TEST(LogScanner, ALaterRecordThatKnewOfTheSyncProvesDamage) {
  SegmentBuilder segment;
  const std::uint32_t first = segment.add("one");
  segment.add("two");
  const std::uint32_t third = segment.add("three", first + 8);
  segment.bytes()[first + kRecordHeaderBytes] ^= 1;
  LogScanner scanner = segment.scanner();
  Step step;
  EXPECT_TRUE(payloads(scanner, step).empty());
  EXPECT_EQ(step, Step::kDamaged);
  EXPECT_EQ(scanner.examine_remains().proof_of_damage, third);
}

TEST(LogScanner, DamageThatZeroesARecordIsProvedToo) {
  SegmentBuilder segment;
  const std::uint32_t first = segment.add("one");
  const std::uint32_t second = segment.add("two", first + 8);
  std::fill(segment.bytes().begin() + first, segment.bytes().begin() + second, std::uint8_t{0});
  LogScanner scanner = segment.scanner();
  LogRecord record;
  EXPECT_EQ(scanner.next(record), Step::kEnd);
  EXPECT_EQ(scanner.examine_remains().proof_of_damage, second);
}

// Writes that were in flight together reach the disk in any order.
TEST(LogScanner, ALaterRecordOfTheSameCommitProvesNothing) {
  SegmentBuilder segment;
  const std::uint32_t first = segment.add("one");
  segment.add("two", first);
  segment.add("three", first);
  segment.bytes()[first] ^= 1;
  LogScanner scanner = segment.scanner();
  LogRecord record;
  EXPECT_EQ(scanner.next(record), Step::kDamaged);
  EXPECT_FALSE(scanner.examine_remains().proof_of_damage);
  EXPECT_EQ(scanner.examine_remains().bytes, segment.bytes().size() - first - 3)
      << "three bytes of padding at the end are zero";
}

TEST(LogScanner, RandomBytesAreNeverARecord) {
  SeededRandom random(5);
  for (int round = 0; round < 200; ++round) {
    SegmentBuilder segment;
    segment.add("good");
    const std::size_t begin = segment.bytes().size();
    segment.add_zeros(random.next_u64() % 2000);
    random.fill(std::span(segment.bytes()).subspan(begin));
    LogScanner scanner = segment.scanner();
    Step step;
    EXPECT_EQ(payloads(scanner, step).size(), 1u);
    EXPECT_FALSE(scanner.examine_remains().proof_of_damage);
  }
}

TEST(SegmentHeader, ComesBackAndNoticesEveryFlippedBit) {
  const SegmentHeader header{7, 0x0123456789abcdef, 0xfedcba98};
  const SegmentHeaderBytes good = encode_segment_header(header);
  const auto decoded = decode_segment_header(good);
  ASSERT_TRUE(decoded.ok());
  EXPECT_EQ(decoded->number, header.number);
  EXPECT_EQ(decoded->id, header.id);
  EXPECT_EQ(decoded->first_record, header.first_record);
  for (std::size_t bit = 0; bit < good.size() * 8; ++bit) {
    SegmentHeaderBytes bad = good;
    bad[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    EXPECT_FALSE(decode_segment_header(bad).ok()) << bit;
  }
}

}  // namespace
}  // namespace gyre::storage

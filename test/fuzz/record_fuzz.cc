// Arbitrary bytes as a log segment: opening it gives records or refuses, and never aborts. What was
// recovered once is recovered again, and the log can go on from there.
//
// The first byte says what is repaired before, so that the input gets past the checksums: the
// header, and those of the records that it frames; and whether it is a compacted segment, with
// another one behind it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/base/random.h"
#include "gyre/storage/event_log.h"
#include "storage/log_format.h"
#include "storage/offset_table.h"
#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

constexpr const char* kFolder = "/shard";
constexpr const char* kSegment = "/shard/log-00000001.seg";
constexpr const char* kNextSegment = "/shard/log-00000002.seg";
constexpr SegmentHeader kHeader = {1, 0x0123456789abcdef, 0};

enum Repair : std::uint8_t { kRepairHeader = 1, kRepairRecords = 2, kCompacted = 4 };

void repair_records(std::vector<std::uint8_t>& segment) {
  std::uint64_t at = kSegmentHeaderBytes;
  while (segment.size() - at >= kRecordHeaderBytes) {
    const RecordHeader header = decode_record_header(segment.data() + at);
    const std::uint64_t bytes = record_bytes(header.payload_bytes);
    if (header.type == 0 || bytes > segment.size() - at) return;
    seal_record(record_seed(kHeader.id), segment.data() + at, bytes);
    at += bytes;
  }
}

// As if compaction had written these records, without an event that anybody may ask for.
void make_compacted(std::vector<std::uint8_t>& segment) {
  segment.resize(
      std::max<std::size_t>((segment.size() + 7) & ~std::size_t{7}, kSegmentHeaderBytes));
  SegmentHeader header = kHeader;
  header.end_as_written = UINT32_MAX;
  header.records_end = static_cast<std::uint32_t>(segment.size());
  const SegmentHeaderBytes bytes = encode_segment_header(header);
  std::copy(bytes.begin(), bytes.end(), segment.begin());
  const std::vector<std::uint8_t> table = OffsetTable::encode({}, record_seed(header.id));
  segment.insert(segment.end(), table.begin(), table.end());
}

// What a compacted segment stands before: an empty one, in which the log goes on.
std::vector<std::uint8_t> next_segment(ByteSpan input) {
  SegmentHeader header = kHeader;
  header.number = 2;
  header.first_record = input[0] >> 3;
  const SegmentHeaderBytes bytes = encode_segment_header(header);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::uint8_t> segment_of(ByteSpan input) {
  const std::uint8_t repair = input[0];
  std::vector<std::uint8_t> segment;
  if ((repair & kRepairHeader) != 0) {
    const SegmentHeaderBytes header = encode_segment_header(kHeader);
    segment.assign(header.begin(), header.end());
  }
  segment.insert(segment.end(), input.begin() + 1, input.end());
  if ((repair & kRepairRecords) != 0 && segment.size() > kSegmentHeaderBytes) {
    repair_records(segment);
  }
  if ((repair & kCompacted) != 0) make_compacted(segment);
  return segment;
}

struct Opened {
  std::unique_ptr<EventLog> log;
  std::vector<std::string> payloads;
  std::vector<LogPosition> positions;
};

std::uint64_t records_in(const LogRecord& record) {
  return record.type == RecordType::kGap ? decode_gap(record.payload.data()).records : 1;
}

Opened open(test::SimFileSystem& files, Random& random) {
  LogOptions options;
  options.segment_bytes = 64 * 1024;
  options.reserve_bytes = 4096;
  LogRecovery recovery;
  Opened opened;
  std::uint64_t number = 0;
  auto log = EventLog::open(
      files, kFolder, options, random, {},
      [&](const LogRecord& record) {
        GYRE_ASSERT_CMP(record.number, ==, number);
        number += records_in(record);
        opened.payloads.emplace_back(as_text(record.payload));
        opened.positions.push_back(record.position);
        return absl::OkStatus();
      },
      recovery);
  if (!log.ok()) return {};
  GYRE_ASSERT_CMP(recovery.records, ==, opened.payloads.size());
  opened.log = *std::move(log);
  return opened;
}

void append_one(EventLog& log) {
  constexpr std::string_view kPayload = "one more";
  for (int turn = 0; turn < 4 && !log.has_room(kPayload.size()); ++turn) {
    log.start_commit();
    while (log.run_writer_once()) {
    }
    log.take_completions();
  }
  const ByteSpan part = as_bytes(kPayload);
  log.append(RecordType::kEvent, {&part, 1});
}

void check(ByteSpan input) {
  test::SimFileSystem files;
  SeededRandom random(1);
  GYRE_ASSERT(files.create_directories(kFolder).ok());
  const bool is_compacted = (input[0] & kCompacted) != 0;
  files.overwrite(kSegment, segment_of(input));
  if (is_compacted) files.overwrite(kNextSegment, next_segment(input));
  Opened first = open(files, random);
  if (first.log == nullptr) return;
  // A compacted segment of these has no table, by which its records could be found.
  for (std::size_t i = 0; i < first.payloads.size() && !is_compacted; ++i) {
    GYRE_ASSERT(as_text(first.log->read(first.positions[i])) == first.payloads[i]);
  }
  append_one(*first.log);
  GYRE_ASSERT(first.log->close().ok());

  const Opened second = open(files, random);
  GYRE_ASSERT(second.log != nullptr);
  GYRE_ASSERT_CMP(second.payloads.size(), ==, first.payloads.size() + 1);
  GYRE_ASSERT(std::equal(first.payloads.begin(), first.payloads.end(), second.payloads.begin()));
}

}  // namespace
}  // namespace gyre::storage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size != 0) gyre::storage::check({data, size});
  return 0;
}

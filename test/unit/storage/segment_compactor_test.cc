// Segments compacted one by one, beneath the store: whatever it answered before it answers
// afterwards, by its index and after that was made again from the compacted log.
#include "storage/segment_compactor.h"

#include <optional>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/dead_share_survey.h"
#include "storage/record.h"
#include "unit/storage/compaction_history.h"
#include "unit/storage/manual_file_reader.h"

namespace gyre::storage {
namespace {

using testing::HasSubstr;

constexpr const char* kFolder = "store/shard-000";
constexpr std::uint64_t kSliceBytes = 512;

std::string segment_path(std::uint32_t number) {
  return std::string(kFolder) + "/" + segment_name(number);
}

// What the worker has in its hands, opened from the files of a store that has ended.
class Bench {
 public:
  explicit Bench(StoreHarness& harness)
      : files_(harness.disk),
        random_(harness.random),
        sources_{{harness.disk, kFolder}, {}, nullptr, 0, nullptr} {
    harness.end();
    options_ = harness.options.log;
    clock_ = &harness.clock;
  }

  [[nodiscard]] absl::Status open() {
    auto data = DataDirectory::open(files_, "store", 1, random_);
    if (!data.ok()) return data.status();
    const ShardIdentity owner = shard_identity((*data)->key(), 0);
    options_.owner = owner;
    hasher_.emplace((*data)->key());
    auto manifest = read_manifest(files_, std::string(kFolder) + "/manifest", owner);
    if (!manifest.ok()) return manifest.status();
    auto directory =
        Directory::open(files_, std::string(kFolder) + "/directory", manifest->directory_rows);
    if (!directory.ok()) return directory.status();
    directory_ = *std::move(directory);
    auto log = EventLog::open(
        files_, kFolder, options_, random_, {manifest->log_position, manifest->log_record_number},
        [](const LogRecord&) { return absl::OkStatus(); }, recovery_, *clock_);
    if (!log.ok()) return log.status();
    log_ = *std::move(log);
    sources_.place.owner = owner;
    sources_.segments = log_->segments_up_to(manifest->log_position.segment());
    sources_.directory = directory_.get();
    sources_.rows = manifest->directory_rows;
    sources_.hasher = &*hasher_;
    return absl::OkStatus();
  }

  [[nodiscard]] absl::Status compact(std::uint32_t number) {
    auto compactor = SegmentCompactor::create(sources_, number, random_.next_u64(), 0);
    if (!compactor.ok()) return compactor.status();
    while (!(*compactor)->is_finished()) {
      if (absl::Status status = (*compactor)->step(kSliceBytes); !status.ok()) return status;
    }
    graveyard_.push_back(log_->replace_segment((*compactor)->take_compacted()));
    sources_.segments = log_->segments_up_to(sources_.end());
    return absl::OkStatus();
  }
  [[nodiscard]] absl::Status compact_all() {
    for (std::uint32_t number = kFirstSegment; number < sources_.end(); ++number) {
      if (absl::Status status = compact(number); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  // Others keep what is dead in them, and records elsewhere must go on saying so.
  [[nodiscard]] absl::Status compact_some() {
    for (std::uint32_t number = kFirstSegment; number < sources_.end(); ++number) {
      if (random_.next_u64() % 2 == 0) continue;
      if (absl::Status status = compact(number); !status.ok()) return status;
    }
    return absl::OkStatus();
  }
  [[nodiscard]] std::vector<SegmentTally> survey() {
    DeadShareSurvey survey(sources_);
    while (!survey.step(7)) {
    }
    return survey.tallies();
  }

  [[nodiscard]] const CompactionSources& sources() const { return sources_; }
  [[nodiscard]] EventLog& log() { return *log_; }
  [[nodiscard]] const Directory& directory() const { return *directory_; }

 private:
  test::SimFileSystem& files_;
  SeededRandom& random_;
  const Clock* clock_ = nullptr;
  LogOptions options_;
  LogRecovery recovery_;
  std::optional<TermHasher> hasher_;
  std::unique_ptr<Directory> directory_;
  std::unique_ptr<EventLog> log_;
  std::vector<std::unique_ptr<LogSegment>> graveyard_;
  CompactionSources sources_;
};

std::vector<std::uint8_t> content_of(StoreHarness& harness, std::uint32_t number) {
  return harness.disk.contents()[segment_path(number)];
}

void forget_index(StoreHarness& harness) {
  harness.end();
  ASSERT_TRUE(harness.disk.remove(std::string(kFolder) + "/manifest").ok());
  ASSERT_TRUE(harness.disk.sync_directory(kFolder).ok());
}

TEST(SegmentCompactor, TheStoreAnswersAsBeforeByItsIndexAndByTheLogAlone) {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    CompactionHistory history(seed);
    StoreHarness& harness = history.harness;
    ASSERT_TRUE(harness.open().ok());
    for (int round = 0; round < 4; ++round) {
      history.live(250);
      harness.reopen();
      const CompactionHistory::Answers before = history.answers();
      {
        Bench bench(harness);
        ASSERT_TRUE(bench.open().ok());
        ASSERT_GT(bench.sources().end(), 2u);
        const absl::Status status = bench.compact_some();
        ASSERT_TRUE(status.ok()) << status.ToString();
      }
      harness.reopen();
      ASSERT_TRUE(history.answers() == before) << "by the index";
      if (round % 2 == 0) continue;
      forget_index(harness);
      harness.reopen();
      ASSERT_TRUE(history.answers() == before) << "by the log alone";
    }
  }
}

TEST(SegmentCompactor, ASegmentWithoutALivingEventShrinksToAHandfulOfBytes) {
  StoreHarness harness;
  harness.options.log.segment_bytes = 16 * 1024;
  harness.options.postings.table_postings_max = 50;
  ASSERT_TRUE(harness.open().ok());
  // Newer versions of one address, and nothing else.
  for (std::uint64_t i = 0; i < 300; ++i) {
    const PackedEvent event =
        test::pack_unsigned_event({.key_index = 1, .created_at = 1'000 + i, .kind = 10'002});
    ASSERT_EQ(harness.store->put(view_of(event)).verdict, Verdict::kAccept);
    harness.settle();
  }
  Bench bench(harness);
  ASSERT_TRUE(bench.open().ok());
  ASSERT_GT(bench.sources().end(), 4u);
  ASSERT_TRUE(bench.compact_all().ok());
  for (std::uint32_t number = kFirstSegment; number < bench.sources().end(); ++number) {
    const LogSegment& segment = bench.sources().segment(number);
    EXPECT_LE(segment.file_bytes(), 100u) << number;
    EXPECT_FALSE(segment.is_mapped());
    EXPECT_EQ(segment.file_bytes(), content_of(harness, number).size());
  }
}

TEST(SegmentCompactor, ASecondCompactionFindsNothingToDo) {
  CompactionHistory history(7);
  ASSERT_TRUE(history.harness.open().ok());
  history.live(600);
  Bench bench(history.harness);
  ASSERT_TRUE(bench.open().ok());
  ASSERT_TRUE(bench.compact_all().ok());
  std::vector<std::uint64_t> sizes;
  for (const SegmentTally& tally : bench.survey()) {
    EXPECT_EQ(tally.dead_bytes, 0u) << tally.number;
    sizes.push_back(tally.file_bytes);
  }
  ASSERT_TRUE(bench.compact_all().ok());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    EXPECT_EQ(bench.survey()[i].file_bytes, sizes[i]);
  }
}

TEST(SegmentCompactor, TheSurveyTellsWhatCompactionGivesBack) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CompactionHistory history(seed);
    ASSERT_TRUE(history.harness.open().ok());
    history.live(500);
    Bench bench(history.harness);
    ASSERT_TRUE(bench.open().ok());
    const std::vector<SegmentTally> before = bench.survey();
    ASSERT_TRUE(bench.compact_all().ok());
    std::uint64_t foretold = 0;
    std::uint64_t given_back = 0;
    std::uint64_t whole = 0;
    for (std::size_t i = 0; i < before.size(); ++i) {
      whole += before[i].file_bytes;
      foretold += before[i].dead_bytes;
      given_back += before[i].file_bytes - bench.sources().segment(before[i].number).file_bytes();
    }
    EXPECT_NEAR(static_cast<double>(foretold), static_cast<double>(given_back),
                0.1 * static_cast<double>(whole));
  }
}

TEST(SegmentCompactor, OnlyShareAndGainDecideWhatIsChosenTheEmptiestFirst) {
  const std::vector<SegmentTally> chosen =
      choose_for_compaction({{1, 100'000, 30'000, 9},
                             {2, 100'000, 50'000, 9},
                             {3, 5'000, 4'000, 9},
                             {4, 90'000, 90'000, 0}},
                            {.dead_share = 0.4, .gain_bytes_min = 4096});
  ASSERT_EQ(chosen.size(), 2u);
  EXPECT_EQ(chosen[0].number, 4u);
  EXPECT_EQ(chosen[1].number, 2u);
}

TEST(SegmentCompactor, AColdRecordIsReadFromItsNewPlace) {
  CompactionHistory history(11);
  StoreHarness& harness = history.harness;
  harness.options.log.segment_bytes = 24 * 1024;
  harness.options.log.resident_bytes = 0;
  ASSERT_TRUE(harness.open().ok());
  history.live(700);
  Bench bench(harness);
  ASSERT_TRUE(bench.open().ok());
  std::vector<std::pair<LogPosition, std::string>> records;
  for (Sequence sequence = 0; sequence < bench.sources().rows; ++sequence) {
    const DirectoryRow row = bench.directory().row(sequence);
    if ((row.flags & kRowDead) != 0 || row.position.segment() >= bench.sources().end()) continue;
    records.emplace_back(row.position, as_text(*bench.log().read_checked(row.position)));
  }
  ASSERT_GT(records.size(), 50u);
  ASSERT_TRUE(bench.compact_all().ok());

  ManualFileReader reader(harness.disk);
  ColdReads reads(bench.log());
  reads.read_by(&reader);
  std::size_t cold_count = 0;
  for (const auto& [position, payload] : records) {
    const auto checked = bench.log().read_checked(position);
    ASSERT_TRUE(checked.has_value());
    EXPECT_EQ(as_text(*checked), payload);
    if (!reads.is_cold(position)) continue;
    ++cold_count;
    const ColdRead read = reads.start_ahead(position);
    while (reader.count() > 0) reader.complete(0);
    ASSERT_EQ(reads.need(read, nullptr), ColdReads::State::kReady);
    EXPECT_EQ(as_text(reads.payload(read)), payload);
  }
  EXPECT_GT(cold_count, 30u);
  EXPECT_EQ(bench.log().damage().records, 0u);
}

// Every byte of a compacted segment, in the middle of a log.
TEST(SegmentCompactor, EveryFlippedByteOfACompactedSegmentIsRefused) {
  CompactionHistory history(3);
  StoreHarness& harness = history.harness;
  harness.options.log.segment_bytes = 4096;
  ASSERT_TRUE(harness.open().ok());
  history.live(120);
  {
    Bench bench(harness);
    ASSERT_TRUE(bench.open().ok());
    ASSERT_TRUE(bench.compact_all().ok());
  }
  forget_index(harness);
  for (std::uint32_t number = 1; number <= 3; ++number) {
    const std::vector<std::uint8_t> good = content_of(harness, number);
    for (std::size_t i = 0; i < good.size(); ++i) {
      std::vector<std::uint8_t> bad = good;
      bad[i] ^= 0x10;
      harness.disk.overwrite(segment_path(number), bad);
      ASSERT_FALSE(harness.open().ok()) << number << " " << i;
      harness.end();
    }
    harness.disk.overwrite(segment_path(number), good);
  }
  harness.reopen();
}

TEST(SegmentCompactor, ACompactedSegmentThatHasLostItsEndOrItsSuccessorIsRefused) {
  CompactionHistory history(3);
  StoreHarness& harness = history.harness;
  ASSERT_TRUE(harness.open().ok());
  history.live(300);
  {
    Bench bench(harness);
    ASSERT_TRUE(bench.open().ok());
    ASSERT_TRUE(bench.compact_all().ok());
  }
  forget_index(harness);
  const std::vector<std::uint8_t> good = content_of(harness, 1);
  for (std::size_t bytes = 0; bytes < good.size(); bytes += 8) {
    harness.disk.overwrite(segment_path(1),
                           {good.begin(), good.begin() + static_cast<std::ptrdiff_t>(bytes)});
    ASSERT_FALSE(harness.open().ok()) << bytes;
    harness.end();
  }
  harness.disk.overwrite(segment_path(1), good);
  for (std::uint32_t number = 2; harness.disk.exists(segment_path(number)); ++number) {
    ASSERT_TRUE(harness.disk.remove(segment_path(number)).ok());
  }
  const absl::Status status = harness.open();
  EXPECT_TRUE(absl::IsDataLoss(status));
  EXPECT_THAT(std::string(status.message()), HasSubstr("log-00000002.seg is missing"));
}

// Power failures and kills at every operation of a compaction.
TEST(SegmentCompactor, EveryOperationIsAPlaceToFail) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    bool was_cut = true;
    for (std::uint64_t point = 0; was_cut; ++point) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << " operation " << point);
      CompactionHistory history(seed);
      StoreHarness& harness = history.harness;
      ASSERT_TRUE(harness.open().ok());
      history.live(90);
      harness.reopen();
      const CompactionHistory::Answers before = history.answers();
      {
        Bench bench(harness);
        ASSERT_TRUE(bench.open().ok());
        harness.disk.power_off_after(point);
        for (std::uint32_t number = 1; number < std::min(bench.sources().end(), 4u); ++number) {
          if (!bench.compact(number).ok()) break;
        }
        was_cut = harness.disk.is_powered_off();
      }
      if (seed % 2 == 0) {
        harness.disk.crash(harness.random);
      } else {
        harness.disk.kill_process();
      }
      harness.reopen();
      ASSERT_TRUE(history.answers() == before) << "by the index";
      const auto recovered = harness.disk.contents();
      harness.reopen();
      ASSERT_EQ(harness.disk.contents(), recovered) << "recovering twice is once";
      forget_index(harness);
      harness.reopen();
      ASSERT_TRUE(history.answers() == before) << "by the log alone";
    }
  }
}

TEST(SegmentCompactor, AnyFailureLeavesTheSegmentAndNothingElse) {
  using Operation = test::SimFileSystem::Operation;
  using Fault = test::SimFileSystem::Fault;
  CompactionHistory history(1);
  StoreHarness& harness = history.harness;
  ASSERT_TRUE(harness.open().ok());
  history.live(200);
  Bench bench(harness);
  ASSERT_TRUE(bench.open().ok());
  const auto before = harness.disk.contents();
  for (const auto& [operation, fault] : {std::pair{Operation::kCreate, Fault::kNoDescriptors},
                                         {Operation::kAllocate, Fault::kNoSpace},
                                         {Operation::kWrite, Fault::kNoSpace},
                                         {Operation::kWrite, Fault::kShortWrite},
                                         {Operation::kTruncate, Fault::kIoError},
                                         {Operation::kSync, Fault::kIoError},
                                         {Operation::kRename, Fault::kIoError}}) {
    harness.disk.fail(operation, 0, fault);
    EXPECT_FALSE(bench.compact(1).ok()) << static_cast<int>(operation);
    EXPECT_EQ(harness.disk.contents(), before) << static_cast<int>(operation);
  }
  EXPECT_TRUE(bench.compact(1).ok());
}

// Stores of version 1 begin as they are, and their segments can be compacted.
TEST(SegmentCompactor, SegmentsOfVersionOneAreReadAndCompacted) {
  CompactionHistory history(5);
  StoreHarness& harness = history.harness;
  ASSERT_TRUE(harness.open().ok());
  history.live(300);
  harness.reopen();
  const CompactionHistory::Answers before = history.answers();
  harness.end();
  for (std::uint32_t number = 1; harness.disk.exists(segment_path(number)); ++number) {
    std::vector<std::uint8_t> bytes = content_of(harness, number);
    SegmentHeaderBytes header_bytes;
    std::copy_n(bytes.begin(), header_bytes.size(), header_bytes.begin());
    auto header = decode_segment_header(header_bytes);
    ASSERT_TRUE(header.ok());
    header->version = kLogVersionWithoutOwner;
    const SegmentHeaderBytes older = encode_segment_header(*header);
    std::copy(older.begin(), older.end(), bytes.begin());
    harness.disk.overwrite(segment_path(number), bytes);
  }
  forget_index(harness);
  harness.reopen();
  ASSERT_TRUE(history.answers() == before);
  ASSERT_TRUE(harness.store->close().ok());
  {
    Bench bench(harness);
    ASSERT_TRUE(bench.open().ok());
    ASSERT_EQ(bench.sources().segment(1).header().version, kLogVersionWithoutOwner);
    ASSERT_TRUE(bench.compact_all().ok());
    EXPECT_EQ(bench.sources().segment(1).header().version, kLogVersion);
    EXPECT_EQ(bench.sources().segment(1).header().owner, bench.sources().place.owner);
  }
  harness.reopen();
  ASSERT_TRUE(history.answers() == before);
  history.live(50);
  forget_index(harness);
  harness.reopen();
}

TEST(SegmentCompactor, ALogOfAnotherStoreOrShardIsRefused) {
  CompactionHistory history(1);
  StoreHarness& harness = history.harness;
  ASSERT_TRUE(harness.open().ok());
  history.live(50);
  harness.end();
  LogOptions options = harness.options.log;
  LogRecovery recovery;
  const auto refusal = [&](ShardIdentity owner) {
    options.owner = owner;
    const auto log = EventLog::open(
        harness.disk, kFolder, options, harness.random, {},
        [](const LogRecord&) { return absl::OkStatus(); }, recovery, harness.clock);
    EXPECT_TRUE(absl::IsDataLoss(log.status()));
    return std::string(log.status().message());
  };
  auto data = DataDirectory::open(harness.disk, "store", 1, harness.random);
  ASSERT_TRUE(data.ok());
  ShardIdentity owner = shard_identity((*data)->key(), 3);
  EXPECT_THAT(refusal(owner),
              HasSubstr("it belongs to shard 0 and stands in the place of shard 3"));
  owner.store ^= 1;
  EXPECT_THAT(refusal(owner), HasSubstr("it belongs to another store"));
}

}  // namespace
}  // namespace gyre::storage

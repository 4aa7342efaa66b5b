#include "gyre/storage/shard_check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "gyre/storage/manifest.h"
#include "storage/directory_format.h"
#include "storage/log_format.h"
#include "storage/posting_run.h"
#include "storage/posting_run_writer.h"
#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

using test::pack_unsigned_event;
using testing::HasSubstr;

// A store with every kind of record, of several segments and runs, and a tail behind the last
// checkpoint; closed.
class ShardCheckTest : public testing::Test {
 protected:
  ShardCheckTest() {
    harness_.options.postings.table_postings_max = 2'000;
    harness_.options.compaction.dead_share = 1;  // Nothing is compacted unless a test asks.
    EXPECT_TRUE(harness_.open().ok());
    for (std::uint64_t i = 0; i < 60; ++i) {
      put({.key_index = 1, .created_at = 10 + i, .kind = 0, .content = "profile"});
      put({.key_index = 2, .created_at = 10 + i % 7, .kind = 30023, .tags = {{"d", "x"}}});
      put({.key_index = 3,
           .created_at = 100,
           .tags = {{"t", "same second"}},
           .content = std::to_string(i)});
    }
    const PackedEvent target = pack_unsigned_event({.key_index = 4, .created_at = 5});
    harness_.clock.set_unix_s(1'000);
    (void)harness_.store->put(view_of(target));
    put({.key_index = 4, .created_at = 20, .kind = 5, .tags = {{"e", id_of(target)}}});
    put({.key_index = 5, .created_at = 20, .tags = {{"expiration", "2000"}}});
    (void)harness_.store->apply_foreign_request(
        view_of(pack_unsigned_event({.key_index = 6, .created_at = 30, .kind = 62})));
    harness_.clock.set_unix_s(3'000);
    (void)harness_.store->sweep_expired(100);
    harness_.checkpoint();
    harness_.checkpoint();
    put({.key_index = 1, .created_at = 1'000, .kind = 0, .content = "behind the checkpoint"});
    harness_.settle();
    place_ = {harness_.shard_path(), harness_.data().key(), 0};
    events_ = harness_.store->statistics().events_total;
    alive_ = harness_.store->statistics().events_alive;
    EXPECT_TRUE(harness_.store->close().ok());
    harness_.end();
  }

  void put(const test::EventDraft& draft) {
    const PackedEvent event = pack_unsigned_event(draft);
    (void)harness_.store->put(view_of(event));
    harness_.settle();
  }

  ShardCheck check(bool verifies_signatures = false) {
    ShardCheckOptions options;
    options.verifies_signatures = verifies_signatures;
    options.advance = [this](std::uint64_t bytes) {
      advanced_ += bytes;
      return absl::OkStatus();
    };
    const auto result = check_shard(harness_.files(), place_, options, harness_.random);
    EXPECT_TRUE(result.ok()) << result.status().ToString();
    return result.value_or(ShardCheck());
  }
  std::vector<std::string> findings() {
    std::vector<std::string> texts;
    for (const Finding& finding : check().findings) texts.push_back(describe(finding));
    return texts;
  }
  Manifest manifest() {
    auto found = read_manifest(harness_.files(), harness_.shard_path("manifest"),
                               shard_identity(place_.key, 0));
    EXPECT_TRUE(found.ok());
    return found.value_or(Manifest());
  }
  void change_row(Sequence sequence, const std::function<void(DirectoryRow&)>& change) {
    std::string bytes = harness_.read("directory");
    DirectoryRow row;
    std::memcpy(&row, bytes.data() + directory_row_offset(sequence), sizeof row);
    EXPECT_TRUE(open_directory_row(row));
    change(row);
    seal_directory_row(row);
    std::memcpy(bytes.data() + directory_row_offset(sequence), &row, sizeof row);
    harness_.write("directory", bytes);
  }
  // Writes a run anew, with what `change` has made of its postings.
  void rewrite_run(const std::string& name,
                   const std::function<void(std::vector<RunPosting>&)>& change) {
    std::vector<RunPosting> postings;
    {
      const auto run = PostingRun::open(harness_.files(), harness_.shard_path(), name);
      ASSERT_TRUE(run.ok());
      for (std::uint32_t block = 0; block < (*run)->block_count(); ++block) {
        (*run)->append_block(block, postings);
      }
    }
    change(postings);
    auto writer = PostingRunWriter::create(harness_.files(), harness_.shard_path(), name,
                                           {postings.size(), postings.size()});
    ASSERT_TRUE(writer.ok());
    for (const RunPosting& posting : postings) {
      (*writer)->add(posting.term, posting.created_at, posting.sequence);
    }
    ASSERT_TRUE((*writer)->finish().ok());
  }

  StoreHarness harness_;
  ShardPlace place_;
  std::uint64_t events_ = 0;
  std::uint64_t alive_ = 0;
  std::uint64_t advanced_ = 0;
};

TEST_F(ShardCheckTest, NothingIsFoundInASoundStore) {
  const ShardCheck result = check();
  EXPECT_EQ(result.finding_count, 0u);
  EXPECT_THAT(findings(), testing::IsEmpty());
  EXPECT_EQ(result.events, events_);
  EXPECT_EQ(result.events_alive, alive_);
  EXPECT_GT(result.postings, 4'000u);
  EXPECT_GT(advanced_, 0u);
  EXPECT_GE(manifest().runs.size(), 2u);
  EXPECT_TRUE(harness_.files().exists(harness_.shard_path("log-00000002.seg")));
}

TEST_F(ShardCheckTest, SignaturesAreVerifiedOnlyWhenAsked) {
  EXPECT_EQ(check(true).finding_count, events_);  // None of them is signed.
}

TEST_F(ShardCheckTest, EveryByteOfTheLogIsLookedAt) {
  for (const std::string name : {"log-00000001.seg", "log-00000002.seg"}) {
    const std::size_t size = harness_.read(name).size();
    for (std::size_t offset = 0; offset < size; offset += 509) {
      harness_.flip(name, offset);
      const ShardCheck result = check();
      EXPECT_TRUE(result.is_log_damaged) << name << " " << offset;
      harness_.flip(name, offset);
    }
  }
  EXPECT_EQ(check().finding_count, 0u);
}

TEST_F(ShardCheckTest, ALostRecordIsNamedByFileAndOffsetAndHidesNothingBehindIt) {
  const std::string name = "log-00000001.seg";
  harness_.flip(name, 5'000);
  const ShardCheck result = check();
  ASSERT_EQ(result.finding_count, 1u);
  EXPECT_THAT(describe(result.findings[0]), HasSubstr("log-00000001.seg at offset "));
  EXPECT_THAT(describe(result.findings[0]), HasSubstr("1 records are lost"));
  EXPECT_FALSE(result.is_index_damaged);
  EXPECT_EQ(result.events, events_ - 1);
}

TEST_F(ShardCheckTest, RecordsUnderADamagedHeaderAreReadAllTheSame) {
  harness_.flip("log-00000002.seg", 20);
  const ShardCheck result = check();
  EXPECT_EQ(result.finding_count, 1u);
  EXPECT_TRUE(result.is_log_damaged);
  EXPECT_EQ(result.events, events_);
}

TEST_F(ShardCheckTest, AMissingSegmentIsNamed) {
  ASSERT_TRUE(harness_.files().remove(harness_.shard_path("log-00000002.seg")).ok());
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("log-00000002.seg at offset 0: the segment "
                                                      "is missing; ")));
}

TEST_F(ShardCheckTest, ASegmentThatLostItsEndIsNamed) {
  const std::string content = harness_.read("log-00000001.seg");
  harness_.write("log-00000001.seg", content.substr(0, content.size() / 2));
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr("log-00000001.seg at offset ")));
}

TEST_F(ShardCheckTest, AnEventThatIsNotWhatItsHeaderSaysIsNamed) {
  const std::string name = "log-00000001.seg";
  std::string content = harness_.read(name);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(content.data());
  SegmentHeaderBytes header_bytes;
  std::copy_n(bytes, header_bytes.size(), header_bytes.begin());
  const auto header = decode_segment_header(header_bytes);
  ASSERT_TRUE(header.ok());
  std::uint8_t* const record = bytes + kSegmentHeaderBytes;
  // Of the packed event behind an empty list: that it is protected, for which it has no tag.
  record[kRecordHeaderBytes + 8 + offsetof(nostr::PackedEventHeader, flags)] ^= nostr::kIsProtected;
  seal_record(record_seed(header->id), record,
              record_bytes(decode_record_header(record).payload_bytes));
  harness_.write(name, content);
  EXPECT_THAT(findings(),
              testing::Contains(HasSubstr("log-00000001.seg at offset 64, event 0: event ")));
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("header does not say what its JSON says")));
}

TEST_F(ShardCheckTest, ADamagedRowIsNamed) {
  harness_.flip("directory", directory_row_offset(7) + 9);
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr("event 7: it fails its check")));
}

TEST_F(ShardCheckTest, ARowThatSaysSomethingElseIsNamed) {
  change_row(7, [](DirectoryRow& row) { ++row.created_at; });
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("event 7: it has another created_at")));
}

TEST_F(ShardCheckTest, DeadAndAliveMustBeAsTheLogSays) {
  change_row(0, [](DirectoryRow& row) { row.flags = 0; });
  change_row(2, [](DirectoryRow& row) { row.flags |= kRowDead; });
  EXPECT_THAT(findings(), testing::UnorderedElementsAre(
                              HasSubstr("event 0: it is alive, and the log makes it dead"),
                              HasSubstr("event 2: it is dead, and nothing in the log")));
}

TEST_F(ShardCheckTest, ADamagedBlockOfARunIsNamed) {
  harness_.flip(manifest().runs.front(), 100);
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr("a block fails its checksum")));
  EXPECT_TRUE(check().is_index_damaged);
  EXPECT_FALSE(check().is_log_damaged);
}

TEST_F(ShardCheckTest, ADamagedFenceIsNamed) {
  const std::string name = manifest().runs.front();
  const std::string content = harness_.read(name);
  RunFooter footer;
  std::memcpy(&footer, content.data() + content.size() - sizeof footer, sizeof footer);
  harness_.flip(name, footer.fence_offset + 3);
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr(name + ": its fence fails the checksum")));
}

TEST_F(ShardCheckTest, AMissingRunAndAMissingDirectoryAreNamed) {
  const std::string run = manifest().runs.front();
  ASSERT_TRUE(harness_.files().remove(harness_.shard_path(run)).ok());
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr(run + ": the manifest names it")));
  ASSERT_TRUE(harness_.files().remove(harness_.shard_path("directory")).ok());
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("directory: it is missing")));
}

TEST_F(ShardCheckTest, APostingThatIsMissingAndOneTooManyAreNamed) {
  Sequence lost = 0;
  rewrite_run(manifest().runs.front(), [&lost](std::vector<RunPosting>& postings) {
    lost = postings[10].sequence;
    postings.erase(postings.begin() + 10);
  });
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr("event " + std::to_string(lost) +
                                                         ": no run has its posting under term")));
  rewrite_run(manifest().runs.back(),
              [](std::vector<RunPosting>& postings) { postings.push_back({UINT64_MAX, 77, 5}); });
  EXPECT_THAT(findings(),
              testing::Contains(HasSubstr("event 5: a posting says that it stands under term "
                                          "ffffffffffffffff at time 77")));
}

TEST_F(ShardCheckTest, PostingsOutOfOrderAreNamed) {
  rewrite_run(manifest().runs.front(), [](std::vector<RunPosting>& postings) {
    // Of one term and one time, where the id decides.
    for (std::size_t i = 1; i < postings.size(); ++i) {
      if (postings[i].term != postings[i - 1].term) continue;
      if (postings[i].created_at != postings[i - 1].created_at) continue;
      return std::swap(postings[i].sequence, postings[i - 1].sequence);
    }
    FAIL() << "no two postings of one time";
  });
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr("is out of order")));
}

TEST_F(ShardCheckTest, TheManifestMustCountRightly) {
  Manifest wrong = manifest();
  ++wrong.events_alive;
  ASSERT_TRUE(write_manifest(harness_.files(), harness_.shard_path("manifest"), wrong).ok());
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr("events alive, and the log ")));
  harness_.flip("manifest", 30);
  EXPECT_THAT(findings(), testing::ElementsAre(HasSubstr("manifest: it is damaged")));
}

TEST_F(ShardCheckTest, ALogThatEndsBeforeTheCheckpointIsNamed) {
  const Manifest found = manifest();
  ASSERT_GT(found.log_position.segment(), 1u);
  for (std::uint32_t number = 2; number < 100; ++number) {
    const std::string path = harness_.shard_path(
        "log-" + std::string(number < 10 ? "0000000" : "000000") + std::to_string(number) + ".seg");
    if (harness_.files().exists(path)) {
      ASSERT_TRUE(harness_.files().remove(path).ok());
    }
  }
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("the log ends here with record ")));
}

TEST_F(ShardCheckTest, NothingIsFoundInACompactedStore) {
  harness_.reopen();
  harness_.store->start_compacting_all();
  for (int i = 0; i < 10'000 && harness_.store->is_compacting_all(); ++i) {
    harness_.clock.advance_s(1);
    harness_.settle();
  }
  ASSERT_GT(harness_.store->statistics().compactions, 0u);
  const std::uint64_t alive = harness_.store->statistics().events_alive;
  ASSERT_TRUE(harness_.store->close().ok());
  harness_.end();
  EXPECT_THAT(findings(), testing::IsEmpty());
  EXPECT_EQ(check().events_alive, alive);

  // Rows of gaps and the tables of offsets are looked at too.
  harness_.flip("directory", directory_row_offset(0) + 8);
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("event 0: it fails its check")));
  harness_.flip("directory", directory_row_offset(0) + 8);
  const std::size_t size = harness_.read("log-00000001.seg").size();
  harness_.flip("log-00000001.seg", size - 12);
  EXPECT_THAT(findings(), testing::Contains(HasSubstr("its offset table is damaged")));
}

TEST_F(ShardCheckTest, ATornTailIsNoDamage) {
  harness_.reopen();
  put({.key_index = 8, .created_at = 5'000});
  harness_.end();
  std::uint32_t last = 1;
  while (harness_.files().exists(
      harness_.shard_path("log-0000000" + std::to_string(last + 1) + ".seg"))) {
    ++last;
  }
  const std::string name = "log-0000000" + std::to_string(last) + ".seg";
  const std::string content = harness_.read(name);
  const std::size_t end = content.find_last_not_of('\0');
  harness_.flip(name, end);
  const ShardCheck result = check();
  EXPECT_EQ(result.finding_count, 0u);
  EXPECT_GT(result.torn_bytes, 0u);
}

TEST_F(ShardCheckTest, AStatusOfTheListenerEndsIt) {
  ShardCheckOptions options;
  options.advance = [](std::uint64_t) { return absl::CancelledError("enough"); };
  EXPECT_TRUE(
      absl::IsCancelled(check_shard(harness_.files(), place_, options, harness_.random).status()));
}

}  // namespace
}  // namespace gyre::storage

// Stores whose records are all on the disk.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "manual_file_reader.h"
#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

using test::EventDraft;
using test::pack_unsigned_event;
using test::pubkey_hex;

constexpr std::uint32_t kAlice = 1;
constexpr std::uint32_t kBob = 2;
constexpr std::uint64_t kTime = 1'600'000'000;

class ColdStore : public testing::Test {
 protected:
  ColdStore() : reader_(harness_.disk) {
    harness_.options.log.resident_bytes = 0;
    harness_.options.compaction.gain_bytes_min = 64;
    const absl::Status status = harness_.open();
    EXPECT_TRUE(status.ok()) << status.ToString();
    harness_.store->cold_reads().read_by(&reader_);
  }
  Verdict put(const PackedEvent& event) {
    const Verdict verdict = harness_.store->put(view_of(event)).verdict;
    harness_.settle();
    return verdict;
  }
  // Without a reader, so that the test need not turn.
  bool is_served(const PackedEvent& event) {
    harness_.store->cold_reads().read_by(nullptr);
    const bool is_served = harness_.is_served(event);
    harness_.store->cold_reads().read_by(&reader_);
    return is_served;
  }

  // The version of an address whose id begins as `prefix` says and goes on with `rest`.
  static PackedEvent version(std::string_view prefix, char rest, std::string content) {
    PackedEvent event = pack_unsigned_event(
        {.key_index = kAlice, .created_at = kTime, .kind = 0, .content = std::move(content)});
    const std::string id = std::string(prefix) + std::string(64 - prefix.size(), rest);
    const auto offset = view_of(event).id_hex().data() - reinterpret_cast<char*>(event.data());
    std::copy(id.begin(), id.end(), event.begin() + offset);
    return event;
  }

  StoreHarness harness_;
  ManualFileReader reader_;
};

TEST_F(ColdStore, NoRuleNeedsTheLog) {
  const auto note = [](std::uint32_t key, std::uint64_t age) {
    return pack_unsigned_event({.key_index = key, .created_at = kTime - age});
  };
  const PackedEvent first = note(kAlice, 10);
  const PackedEvent second = note(kAlice, 20);
  const PackedEvent bobs = note(kBob, 10);
  const auto article = [](std::uint64_t created_at, std::string d) {
    return pack_unsigned_event({.key_index = kAlice,
                                .created_at = created_at,
                                .kind = 30'023,
                                .tags = {{"d", std::move(d)}}});
  };
  const PackedEvent old_article = article(kTime, "");
  const PackedEvent other_article = article(kTime, "other");
  const PackedEvent wrap = pack_unsigned_event(
      {.key_index = 7, .created_at = kTime, .kind = 1059, .tags = {{"p", pubkey_hex(kBob)}}});
  for (const PackedEvent& event : {first, second, bobs, old_article, other_article, wrap}) {
    ASSERT_EQ(put(event), Verdict::kAccept);
    EXPECT_EQ(put(event), Verdict::kDuplicate);
  }
  EXPECT_EQ(put(article(kTime + 1, "")), Verdict::kAccept);
  EXPECT_EQ(put(pack_unsigned_event({.key_index = kAlice,
                                     .created_at = kTime + 5,
                                     .kind = 5,
                                     .tags = {{"e", id_of(first)},
                                              {"e", id_of(bobs)},
                                              {"a", "30023:" + pubkey_hex(kAlice) + ":other"}}})),
            Verdict::kAccept);
  EXPECT_EQ(put(pack_unsigned_event({.key_index = kBob,
                                     .created_at = kTime + 5,
                                     .kind = 62,
                                     .tags = {{"relay", "ALL_RELAYS"}}})),
            Verdict::kAccept);
  // Decided without it. Afterwards what died is read, one after the other, to be counted no more.
  EXPECT_LE(reader_.count(), 1u);
  EXPECT_EQ(harness_.store->statistics().deaths_pending, 5u);
  EXPECT_FALSE(is_served(first));
  EXPECT_TRUE(is_served(second));
  EXPECT_FALSE(is_served(bobs));
  EXPECT_FALSE(is_served(old_article));
  EXPECT_FALSE(is_served(other_article));
  EXPECT_FALSE(is_served(wrap));
}

TEST_F(ColdStore, TheDeadAreReadBeforeCountsGoByTheIndexAgain) {
  const PackedEvent profile =
      pack_unsigned_event({.key_index = kAlice, .created_at = kTime, .kind = 0});
  const PackedEvent newer =
      pack_unsigned_event({.key_index = kAlice, .created_at = kTime + 1, .kind = 0});
  ASSERT_EQ(put(profile), Verdict::kAccept);
  ASSERT_EQ(put(newer), Verdict::kAccept);
  nostr::Filter filter;
  filter.kinds = {0};
  const EverythingIsReadable access;
  EXPECT_EQ(harness_.store->count(filter, access, harness_.clock.unix_s()), std::nullopt);
  reader_.complete_all();
  harness_.settle();
  EXPECT_EQ(harness_.store->statistics().deaths_pending, 0u);
  EXPECT_EQ(harness_.store->count(filter, access, harness_.clock.unix_s()), 1u);
}

TEST_F(ColdStore, ADeadEventThatCannotBeReadLeavesCountingToScans) {
  ASSERT_EQ(put(pack_unsigned_event({.key_index = kAlice, .created_at = kTime, .kind = 0})),
            Verdict::kAccept);
  ASSERT_EQ(put(pack_unsigned_event({.key_index = kAlice, .created_at = kTime + 1, .kind = 0})),
            Verdict::kAccept);
  int tries = 0;
  for (; harness_.store->statistics().deaths_pending > 0; ++tries) {
    ASSERT_LT(tries, 100);
    if (reader_.count() > 0) reader_.fail(0, EIO);
    harness_.settle();
  }
  EXPECT_GT(tries, 1);
  nostr::Filter filter;
  filter.kinds = {0};
  const EverythingIsReadable access;
  EXPECT_EQ(harness_.store->count(filter, access, harness_.clock.unix_s()), std::nullopt);
}

TEST_F(ColdStore, VersionsWhoseIdsBeginAlikeWaitForTheRecord) {
  const PackedEvent stored = version("0123456789abcdef", '5', "stored");
  const PackedEvent lower = version("0123456789abcdef", '4', "lower");
  const PackedEvent higher = version("0123456789abcdef", '6', "higher");
  ASSERT_EQ(put(stored), Verdict::kAccept);
  EXPECT_EQ(harness_.store->check(view_of(higher)), Verdict::kReading);
  EXPECT_EQ(reader_.count(), 0u) << "a check reads nothing";
  EXPECT_EQ(put(higher), Verdict::kReading);
  EXPECT_EQ(put(higher), Verdict::kReading);
  EXPECT_EQ(reader_.count(), 1u) << "one read for all attempts";
  reader_.complete_all();
  EXPECT_EQ(put(higher), Verdict::kStale);
  EXPECT_EQ(put(lower), Verdict::kReading);
  reader_.complete_all();
  EXPECT_EQ(put(lower), Verdict::kAccept);
  EXPECT_FALSE(is_served(stored));
  EXPECT_TRUE(is_served(lower));
}

TEST_F(ColdStore, AVersionThatCannotBeReadStandsInNobodysWay) {
  const PackedEvent higher = version("0123456789abcdef", '6', "higher");
  ASSERT_EQ(put(version("0123456789abcdef", '5', "stored")), Verdict::kAccept);
  EXPECT_EQ(put(higher), Verdict::kReading);
  reader_.fail(0, EIO);
  EXPECT_EQ(put(higher), Verdict::kAccept);
  EXPECT_TRUE(is_served(higher));
}

TEST_F(ColdStore, IdsThatDifferEarlierNeedNoRecord) {
  ASSERT_EQ(put(version("0123456789abcd00", '5', "stored")), Verdict::kAccept);
  EXPECT_EQ(put(version("0123456789abcdff", '0', "higher")), Verdict::kStale);
  EXPECT_EQ(put(version("0123456789000000", 'f', "lower")), Verdict::kAccept);
}

// It was a candidate, found no buffer, and is gone when there is one.
TEST_F(ColdStore, AScanDoesNotLookForWhatCompactionHasDroppedMeanwhile) {
  std::vector<PackedEvent> notes;
  for (std::uint64_t i = 0; i < 300; ++i) {
    notes.push_back(pack_unsigned_event(
        {.key_index = kAlice, .created_at = kTime + i, .content = std::string(400, 'c')}));
    ASSERT_EQ(put(notes.back()), Verdict::kAccept);
  }
  ColdReads& reads = harness_.store->cold_reads();
  const QuerySources sources = harness_.store->sources();
  std::vector<ColdRead> held;
  while (held.size() + 1 < ColdReads::kReadsMax) {
    held.push_back(reads.start_ahead(sources.directory.row(0).position));
  }
  nostr::Filter filter;
  filter.kinds = {1};
  const EverythingIsReadable access;
  CountingWaiter waiter;
  Scan scan(sources, {&filter, 1}, {{UINT64_MAX}, UINT64_MAX}, access, harness_.clock.unix_s(),
            &waiter);
  std::uint64_t budget = 1'000'000;
  Sequence sequence = 0;
  nostr::PackedEventView event;
  ASSERT_EQ(scan.next(budget, sequence, event), Scan::Step::kWaiting);

  const PackedEvent& second = notes[notes.size() - 2];
  ASSERT_EQ(put(pack_unsigned_event({.key_index = kAlice,
                                     .created_at = kTime + 500,
                                     .kind = 5,
                                     .tags = {{"e", id_of(second)}}})),
            Verdict::kAccept);
  reader_.complete(0);
  held.erase(held.begin());
  harness_.settle();
  reader_.complete(reader_.count() - 1);  // What the dead one was posted under.
  harness_.store->start_compacting_all();
  for (int turn = 0; turn < 1'000 && harness_.store->is_compacting_all(); ++turn) harness_.settle();
  ASSERT_GT(harness_.store->statistics().compactions, 0u);

  held.clear();
  std::vector<PackedEvent> found;
  while (true) {
    reader_.complete_all();
    const Scan::Step step = scan.next(budget, sequence, event);
    if (step == Scan::Step::kFinished) break;
    if (step == Scan::Step::kEvent) found.emplace_back(event.bytes().begin(), event.bytes().end());
  }
  notes.erase(notes.end() - 2);
  EXPECT_TRUE(std::equal(found.begin(), found.end(), notes.rbegin(), notes.rend()));
  EXPECT_EQ(harness_.store->statistics().damaged_records, 0u);
}

}  // namespace
}  // namespace gyre::storage

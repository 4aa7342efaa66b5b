// Histories of few authors, cut by power failures and kills wherever they may fall.
//
// What must hold afterwards: the store is what the rules make of some beginning of the history that
// has all that was acknowledged. So every acknowledged event is there or was replaced, deleted or
// expired by one that is; none is altered, none is invented; deletions hold for events that come
// again; and recovering twice is recovering once.
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/storage/naive_rules.h"

namespace gyre::storage {
namespace {

using test::EventDraft;
using test::pack_unsigned_event;
using test::pubkey_hex;

constexpr std::uint64_t kTime = 1'600'000'000;
constexpr std::uint32_t kAuthors = 3;
constexpr std::uint32_t kForeignAuthor = 50;
constexpr std::size_t kPoolSize = 70;

struct Outcome {
  int crashes = 0;
  int checkpoints = 0;
  std::uint64_t merges = 0;
  std::uint64_t compactions = 0;
  int forgotten = 0;  // Manifests.
};

class History {
 public:
  History(std::uint64_t seed, Durability durability)
      : harness_(StoreHarness::Disk::kSimulated, seed), durability_(durability) {
    harness_.options.log.durability = durability;
    harness_.options.log.segment_bytes = 8 * 1024;
    harness_.options.log.reserve_bytes = 4 * 1024;
    harness_.options.compaction.dead_share = below(3) == 0 ? 1 : 0.05;
    harness_.options.compaction.gain_bytes_min = 256;
    harness_.options.compaction.slice_bytes = 256 + below(4000);
    harness_.options.postings.table_postings_max = below(3) == 0 ? 1'000'000 : 32 + below(100);
    harness_.options.postings.merge_slice_postings = 1 + below(300);
    harness_.options.postings.merged_tables = 2 + below(3);
    for (std::size_t i = 0; i < kPoolSize; ++i) pool_.push_back(make_event());
    for (int i = 0; i < 6; ++i) foreign_requests_.push_back(make_foreign_request());
    const absl::Status status = harness_.open();
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  // One process's life, to its end by a power failure, a kill, or an orderly close.
  void live() {
    if (below(4) != 0) harness_.disk.power_off_after(below(120));
    const std::uint64_t steps = 20 + below(150);
    for (std::uint64_t i = 0; i < steps && !is_off(); ++i) step();
    if (!is_off() && below(4) == 0) {
      const bool is_closed = harness_.store->close().ok();
      if (is_closed && !is_off()) acknowledged_ = deeds_.size();
    }
    outcome.checkpoints += static_cast<int>(harness_.store->statistics().runs > runs_at_start_);
    outcome.merges += harness_.store->statistics().merges;
    outcome.compactions += harness_.store->statistics().compactions;
    const bool has_power_failed = is_off() || below(2) == 0;
    harness_.end();
    if (has_power_failed) return fail_power();
    ++outcome.crashes;
    harness_.disk.kill_process();
  }

  void recover() {
    if (below(4) == 0) forget_index();
    while (true) {
      if (below(3) == 0) harness_.disk.power_off_after(below(15));
      const absl::Status status = harness_.open();
      if (!is_off()) {
        ASSERT_TRUE(status.ok()) << status.ToString();
        break;
      }
      harness_.end();
      fail_power();
    }
    harness_.disk.power_off_after(UINT32_MAX);
    runs_at_start_ = harness_.store->statistics().runs;
    cut_to_what_was_found();
    if (testing::Test::HasFailure()) return;
    expect_the_rules_to_hold();
  }

  void recover_again() {
    const StoreStatistics before = harness_.store->statistics();
    harness_.end();
    harness_.disk.kill_process();
    const absl::Status status = harness_.open();
    ASSERT_TRUE(status.ok()) << status.ToString();
    const StoreStatistics after = harness_.store->statistics();
    EXPECT_EQ(after.events_alive, before.events_alive);
    EXPECT_EQ(after.events_total, before.events_total);
    EXPECT_EQ(after.postings, before.postings);
    expect_the_rules_to_hold();
  }

  Outcome outcome;

 private:
  // Something that changed the store.
  struct Deed {
    enum class Type : std::uint8_t { kEvent, kForeign, kSweep };
    Type type;
    const PackedEvent* event;
    std::int64_t now_s;
    LogPosition end;
    std::uint64_t rows;  // Of the directory, after it.
  };

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    return harness_.random.next_u64() % bound;
  }
  [[nodiscard]] bool is_off() const { return harness_.disk.is_powered_off(); }
  [[nodiscard]] std::int64_t now_s() const { return harness_.clock.unix_s(); }
  [[nodiscard]] std::string some_id() {
    return pool_.empty() ? std::string(64, '0') : id_of(pool_[below(pool_.size())]);
  }

  PackedEvent make_event() {
    constexpr std::uint16_t kKinds[] = {1, 1, 1, 0, 10'002, 30'023, 30'023, 1059, 1059, 5, 5, 62};
    EventDraft draft;
    draft.key_index = 1 + static_cast<std::uint32_t>(below(kAuthors));
    draft.kind = kKinds[below(std::size(kKinds))];
    if (draft.kind == 62 && below(3) != 0) draft.kind = 1;
    draft.created_at = kTime + below(10);
    draft.content = std::string(below(4) == 0 ? below(2000) : 0, 'c');
    const std::string author = pubkey_hex(draft.key_index);
    if (draft.kind == 30'023) draft.tags.push_back({"d", below(2) == 0 ? "x" : ""});
    if (draft.kind == 1059) {
      const std::uint64_t recipient = below(kAuthors + 1);
      draft.tags.push_back(
          {"p", pubkey_hex(recipient == kAuthors ? kForeignAuthor
                                                 : 1 + static_cast<std::uint32_t>(recipient))});
    }
    if (draft.kind == 5) {
      for (std::uint64_t i = below(3); i < 3; ++i) draft.tags.push_back({"e", some_id()});
      if (below(2) == 0) draft.tags.push_back({"a", "30023:" + author + ":x"});
      if (below(4) == 0) draft.tags.push_back({"a", "0:" + author + ":"});
    }
    if (below(8) == 0) {
      draft.tags.push_back(
          {"expiration", std::to_string(now_s() + 1 + static_cast<std::int64_t>(below(60)))});
    }
    return pack_unsigned_event(draft);
  }

  PackedEvent make_foreign_request() {
    EventDraft draft;
    draft.key_index = kForeignAuthor;
    draft.created_at = kTime + below(10);
    draft.kind = below(4) == 0 ? 62 : 5;
    for (int i = 0; i < 4; ++i) draft.tags.push_back({"e", some_id()});
    return pack_unsigned_event(draft);
  }

  // Then the log alone must say everything, compacted or not.
  void forget_index() {
    const std::string manifest = "store/shard-000/manifest";
    if (!harness_.disk.exists(manifest)) return;
    EXPECT_TRUE(harness_.disk.remove(manifest).ok());
    EXPECT_TRUE(harness_.disk.sync_directory("store/shard-000").ok());
    ++outcome.forgotten;
  }

  void fail_power() {
    ++outcome.crashes;
    // Without a sync it may take what had been acknowledged.
    if (durability_ != Durability::kFsync) acknowledged_ = 0;
    harness_.disk.crash(harness_.random);
  }

  void step() {
    switch (below(10)) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4: return put(pool_[below(pool_.size())]);
      case 5: return below(3) == 0 ? apply_foreign() : sweep();
      case 6: return harness_.clock.advance_ms(below(4000));
      default: break;
    }
    harness_.store->run_background_once();
    if (is_off()) return;
    harness_.store->work();
    note_acknowledged();
  }

  void put(const PackedEvent& event) {
    const Verdict expected = rules_.verdict(view_of(event), now_s());
    const Store::PutResult result = harness_.store->put(view_of(event));
    if (result.verdict == Verdict::kBusy) return;
    EXPECT_EQ(result.verdict, expected) << view_of(event).json();
    if (result.verdict == Verdict::kAccept) do_deed(Deed::Type::kEvent, &event);
  }

  void apply_foreign() {
    const PackedEvent& request = foreign_requests_[below(foreign_requests_.size())];
    const Verdict verdict = harness_.store->apply_foreign_request(view_of(request)).verdict;
    if (verdict == Verdict::kAccept) do_deed(Deed::Type::kForeign, &request);
  }

  void sweep() {
    const LogPosition before = harness_.store->appended();
    (void)harness_.store->sweep_expired(1000);
    if (harness_.store->appended() != before) do_deed(Deed::Type::kSweep, nullptr);
  }

  void do_deed(Deed::Type type, const PackedEvent* event) {
    deeds_.push_back({type, event, now_s(), harness_.store->appended(),
                      harness_.store->statistics().events_total});
    redo(deeds_.back(), rules_);
  }

  static void redo(const Deed& deed, NaiveRules& rules) {
    switch (deed.type) {
      case Deed::Type::kEvent: return rules.accept(*deed.event);
      case Deed::Type::kForeign: return rules.accept_foreign(*deed.event);
      case Deed::Type::kSweep: return rules.sweep(deed.now_s);
    }
  }

  void note_acknowledged() {
    const LogPosition end = harness_.store->acknowledged();
    while (acknowledged_ < deeds_.size() && deeds_[acknowledged_].end <= end) ++acknowledged_;
  }

  [[nodiscard]] std::set<PackedEvent> found() {
    const std::vector<PackedEvent> events = harness_.find({});
    EXPECT_EQ(events.size(), std::set<PackedEvent>(events.begin(), events.end()).size());
    return {events.begin(), events.end()};
  }

  [[nodiscard]] std::set<PackedEvent> expected(const NaiveRules& rules) const {
    std::set<PackedEvent> events;
    for (const auto& [id, event] : rules.alive) {
      const auto expiration = view_of(event).expiration();
      if (expiration && static_cast<std::int64_t>(*expiration) <= now_s()) continue;
      events.insert(event);
    }
    return events;
  }

  // The longest beginning of the history that explains what is there.
  void cut_to_what_was_found() {
    const std::set<PackedEvent> events = found();
    const std::uint64_t alive = harness_.store->statistics().events_alive;
    const std::uint64_t rows = harness_.store->statistics().events_total;
    for (std::size_t count = deeds_.size() + 1; count-- > acknowledged_;) {
      if (rows != (count == 0 ? 0 : deeds_[count - 1].rows)) continue;
      NaiveRules rules;
      for (std::size_t i = 0; i < count; ++i) redo(deeds_[i], rules);
      if (rules.alive.size() != alive || expected(rules) != events) continue;
      deeds_.resize(count);
      rules_ = std::move(rules);
      acknowledged_ = count;
      return;
    }
    ADD_FAILURE() << "no beginning of at least " << acknowledged_ << " of " << deeds_.size()
                  << " deeds explains " << events.size() << " events served and " << alive
                  << " alive";
  }

  void expect_the_rules_to_hold() {
    EXPECT_EQ(found(), expected(rules_));
    EXPECT_EQ(harness_.store->statistics().events_alive, rules_.alive.size());
    for (const PackedEvent& event : pool_) {
      EXPECT_EQ(harness_.store->check(view_of(event)), rules_.verdict(view_of(event), now_s()))
          << view_of(event).json();
    }
  }

  StoreHarness harness_;
  const Durability durability_;
  std::vector<PackedEvent> pool_;
  std::vector<PackedEvent> foreign_requests_;
  std::vector<Deed> deeds_;
  std::size_t acknowledged_ = 0;  // Deeds.
  std::uint64_t runs_at_start_ = 0;
  NaiveRules rules_;
};

Outcome run(std::uint64_t seed, Durability durability, int lives) {
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  History history(seed, durability);
  for (int life = 0; life < lives && !testing::Test::HasFailure(); ++life) {
    history.live();
    history.recover();
    if (!testing::Test::HasFailure() && life % 2 == 0) history.recover_again();
  }
  return history.outcome;
}

class StoreCrash : public testing::TestWithParam<Durability> {};

TEST_P(StoreCrash, LeavesABeginningOfTheHistoryWithAllThatWasAcknowledged) {
  Outcome sum;
  for (std::uint64_t seed = 1; seed <= 90 && !HasFailure(); ++seed) {
    const Outcome outcome = run(seed, GetParam(), 4);
    sum.crashes += outcome.crashes;
    sum.checkpoints += outcome.checkpoints;
    sum.merges += outcome.merges;
    sum.compactions += outcome.compactions;
    sum.forgotten += outcome.forgotten;
  }
  // Else the histories were too tame to show anything.
  EXPECT_GE(sum.crashes, 350);
  EXPECT_GE(sum.checkpoints, 50);
  EXPECT_GE(sum.merges, 10u);
  EXPECT_GE(sum.compactions, 50u);
  EXPECT_GE(sum.forgotten, 30);
}

INSTANTIATE_TEST_SUITE_P(UnderEachPromise, StoreCrash,
                         testing::Values(Durability::kFsync, Durability::kInterval,
                                         Durability::kOs),
                         [](const testing::TestParamInfo<Durability>& promise) {
                           switch (promise.param) {
                             case Durability::kFsync: return "Fsync";
                             case Durability::kInterval: return "Interval";
                             case Durability::kOs: break;
                           }
                           return "Os";
                         });

}  // namespace
}  // namespace gyre::storage

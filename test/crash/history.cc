#include "crash/history.h"

#include <iterator>
#include <utility>

#include "gyre/storage/shard_check.h"

namespace gyre::storage {
namespace {

using test::EventDraft;
using test::pack_unsigned_event;
using test::pubkey_hex;

constexpr std::uint64_t kTime = 1'600'000'000;
constexpr std::uint32_t kAuthors = 3;
constexpr std::uint32_t kForeignAuthor = 50;

}  // namespace

History::History(std::uint64_t seed, Size size, Durability durability)
    : size_(size), durability_(durability), harness_(StoreHarness::Disk::kSimulated, seed) {
  choose_options();
  const std::size_t pool_size = size_ == Size::kSmall ? 25 : 70;
  for (std::size_t i = 0; i < pool_size; ++i) pool_.push_back(make_event());
  for (int i = 0; i < 6; ++i) foreign_requests_.push_back(make_foreign_request());
  const absl::Status status = harness_.open();
  EXPECT_TRUE(status.ok()) << status.ToString();
}

// Everything so small that segments end, tables are written, runs merged and dead events dropped
// every few steps.
void History::choose_options() {
  StoreOptions& options = harness_.options;
  const bool is_small = size_ == Size::kSmall;
  options.log.durability = durability_;
  options.log.segment_bytes = is_small ? 4 * 1024 : 8 * 1024;
  options.log.reserve_bytes = is_small ? 2 * 1024 : 4 * 1024;
  options.compaction.dead_share = !is_small && below(3) == 0 ? 1 : 0.05;
  options.compaction.gain_bytes_min = 256;
  options.compaction.slice_bytes = 256 + below(4000);
  options.postings.table_postings_max =
      !is_small && below(3) == 0 ? 1'000'000 : 32 + below(is_small ? 16 : 100);
  options.postings.merge_slice_postings = 1 + below(300);
  options.postings.merged_tables = 2 + below(is_small ? 1 : 3);
}

bool History::live(std::uint64_t operations_until_failure) {
  const bool is_small = size_ == Size::kSmall;
  harness_.disk.power_off_after(operations_until_failure);
  const std::uint64_t steps = is_small ? 60 + below(60) : 20 + below(150);
  for (std::uint64_t i = 0; i < steps && !is_off(); ++i) step();
  if (!is_off() && (is_small || below(4) == 0)) close();
  const StoreStatistics statistics = harness_.store->statistics();
  outcome_.checkpoints += statistics.runs > runs_at_start_ ? 1 : 0;
  outcome_.merges += statistics.merges;
  outcome_.compactions += statistics.compactions;
  const bool was_cut = is_off();
  harness_.end();
  if (was_cut || below(2) == 0) {
    fail_power();
  } else {
    ++outcome_.crashes;
    harness_.disk.kill_process();
  }
  return was_cut;
}

void History::close() {
  const bool is_closed = harness_.store->close().ok();
  if (is_closed && !is_off()) acknowledged_ = deeds_.size();
}

void History::step() {
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
  // Small histories are short, and are to see all that goes on behind.
  for (int i = 0; i < (size_ == Size::kSmall ? 3 : 1); ++i) {
    harness_.store->run_background_once();
    if (is_off()) return;
    harness_.store->work();
  }
  note_acknowledged();
}

void History::put(const PackedEvent& event) {
  const Verdict expected = rules_.verdict(view_of(event), now_s());
  const Store::PutResult result = harness_.store->put(view_of(event));
  if (result.verdict == Verdict::kBusy) return;
  EXPECT_EQ(result.verdict, expected) << view_of(event).json();
  if (result.verdict == Verdict::kAccept) do_deed(Deed::Type::kEvent, &event);
}

void History::apply_foreign() {
  const PackedEvent& request = foreign_requests_[below(foreign_requests_.size())];
  const Verdict verdict = harness_.store->apply_foreign_request(view_of(request)).verdict;
  if (verdict == Verdict::kAccept) do_deed(Deed::Type::kForeign, &request);
}

void History::sweep() {
  const LogPosition before = harness_.store->appended();
  (void)harness_.store->sweep_expired(1000);
  if (harness_.store->appended() != before) do_deed(Deed::Type::kSweep, nullptr);
}

void History::do_deed(Deed::Type type, const PackedEvent* event) {
  deeds_.push_back({type, event, now_s(), harness_.store->appended(),
                    harness_.store->statistics().events_total});
  redo(deeds_.back(), rules_);
}

void History::redo(const Deed& deed, NaiveRules& rules) {
  switch (deed.type) {
    case Deed::Type::kEvent: return rules.accept(*deed.event);
    case Deed::Type::kForeign: return rules.accept_foreign(*deed.event);
    case Deed::Type::kSweep: return rules.sweep(deed.now_s);
  }
}

void History::note_acknowledged() {
  const LogPosition end = harness_.store->acknowledged();
  while (acknowledged_ < deeds_.size() && deeds_[acknowledged_].end <= end) ++acknowledged_;
}

void History::fail_power() {
  ++outcome_.crashes;
  // Without a sync it may take what had been acknowledged.
  if (durability_ != Durability::kFsync) acknowledged_ = 0;
  harness_.disk.crash(harness_.random);
}

bool History::recover(std::uint64_t operations_until_failure) {
  if (below(4) == 0) forget_index();
  bool was_cut = false;
  while (true) {
    harness_.disk.power_off_after(operations_until_failure);
    const absl::Status status = harness_.open();
    if (!is_off()) {
      EXPECT_TRUE(status.ok()) << status.ToString();
      if (!status.ok()) return was_cut;
      break;
    }
    was_cut = true;
    harness_.end();
    fail_power();
    operations_until_failure = size_ == Size::kLong && below(3) == 0 ? below(15) : kNever;
  }
  harness_.disk.power_off_after(kNever);
  runs_at_start_ = harness_.store->statistics().runs;
  cut_to_what_was_found();
  if (!testing::Test::HasFailure()) expect_the_rules_to_hold();
  return was_cut;
}

// Then the log alone must say everything, compacted or not.
void History::forget_index() {
  const std::string manifest = harness_.shard_path("manifest");
  if (!harness_.disk.exists(manifest)) return;
  EXPECT_TRUE(harness_.disk.remove(manifest).ok());
  EXPECT_TRUE(harness_.disk.sync_directory(harness_.shard_path()).ok());
  ++outcome_.forgotten;
}

void History::check_and_recover_again() {
  const StoreStatistics before = harness_.store->statistics();
  const ShardPlace place{harness_.shard_path(), harness_.data().key(), 0};
  harness_.end();
  harness_.disk.kill_process();
  ShardCheckOptions options;
  options.advance = [](std::uint64_t) { return absl::OkStatus(); };
  const auto check = check_shard(harness_.disk, place, options, harness_.random);
  ASSERT_TRUE(check.ok()) << check.status().ToString();
  for (const Finding& finding : check->findings) ADD_FAILURE() << describe(finding);
  EXPECT_EQ(check->finding_count, 0u);
  EXPECT_EQ(check->events_alive, before.events_alive);

  const absl::Status status = harness_.open();
  ASSERT_TRUE(status.ok()) << status.ToString();
  const StoreStatistics after = harness_.store->statistics();
  EXPECT_EQ(after.events_alive, before.events_alive);
  EXPECT_EQ(after.events_total, before.events_total);
  EXPECT_EQ(after.postings, before.postings);
  expect_the_rules_to_hold();
}

std::string History::some_id() {
  return pool_.empty() ? std::string(64, '0') : id_of(pool_[below(pool_.size())]);
}

PackedEvent History::make_event() {
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

PackedEvent History::make_foreign_request() {
  EventDraft draft;
  draft.key_index = kForeignAuthor;
  draft.created_at = kTime + below(10);
  draft.kind = below(4) == 0 ? 62 : 5;
  for (int i = 0; i < 4; ++i) draft.tags.push_back({"e", some_id()});
  return pack_unsigned_event(draft);
}

std::set<PackedEvent> History::found() {
  const std::vector<PackedEvent> events = harness_.find({});
  EXPECT_EQ(events.size(), std::set<PackedEvent>(events.begin(), events.end()).size());
  return {events.begin(), events.end()};
}

std::set<PackedEvent> History::expected(const NaiveRules& rules) const {
  std::set<PackedEvent> events;
  for (const auto& [id, event] : rules.alive) {
    const auto expiration = view_of(event).expiration();
    if (expiration && static_cast<std::int64_t>(*expiration) <= now_s()) continue;
    events.insert(event);
  }
  return events;
}

// The longest beginning of the history that explains what is there.
void History::cut_to_what_was_found() {
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

void History::expect_the_rules_to_hold() {
  EXPECT_EQ(found(), expected(rules_));
  EXPECT_EQ(harness_.store->statistics().events_alive, rules_.alive.size());
  for (const PackedEvent& event : pool_) {
    EXPECT_EQ(harness_.store->check(view_of(event)), rules_.verdict(view_of(event), now_s()))
        << view_of(event).json();
  }
}

}  // namespace gyre::storage

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/base/bytes.h"
#include "indexed_shard.h"
#include "manual_file_reader.h"

namespace gyre::storage {
namespace {

using nostr::Filter;

constexpr std::uint64_t kEndless = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kStart = 1'700'000'000;
constexpr std::int64_t kNow = kStart + 50;

// Sees nothing of one kind.
class AccessWithoutKind final : public ReadAccess {
 public:
  explicit AccessWithoutKind(std::uint16_t kind) : kind_(kind) {}
  [[nodiscard]] bool may_read(nostr::PackedEventView event) const override {
    return event.kind() != kind_;
  }
  [[nodiscard]] std::span<const std::uint16_t> restricted_kinds() const override {
    return {&kind_, 1};
  }
  [[nodiscard]] bool may_read_some_restricted() const override { return false; }

 private:
  const std::uint16_t kind_;
};

ScanLimits limits_of(std::span<const Filter> filters) {
  ScanLimits limits;
  for (const Filter& filter : filters)
    limits.filter_limits.push_back(filter.limit.value_or(kEndless));
  return limits;
}

std::vector<Sequence> drain(Scan& scan, std::uint64_t slice = kEndless) {
  std::vector<Sequence> found;
  for (;;) {
    std::uint64_t budget = slice;
    Sequence sequence;
    nostr::PackedEventView event;
    const Scan::Step step = scan.next(budget, sequence, event);
    if (step == Scan::Step::kFinished) return found;
    if (step == Scan::Step::kEvent) found.push_back(sequence);
  }
}

// Makes events and filters that meet often.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  test::EventDraft event() {
    static constexpr std::uint16_t kKinds[] = {0, 1, 1, 1, 7, 5, 10'002, 30'023, 1059};
    test::EventDraft draft = {.key_index = below(12),
                              .created_at = kStart + below(60),
                              .kind = kKinds[below(std::size(kKinds))],
                              .content = std::to_string(++events_)};
    for (std::uint32_t i = below(4); i > 0; --i) {
      draft.tags.push_back({std::string(1, letter()), value()});
    }
    if (one_in(15)) draft.tags.push_back({"t"});
    if (one_in(10)) draft.tags.push_back({"expiration", std::to_string(kStart + below(100))});
    return draft;
  }

  Filter filter(const test::NaiveStore& store) {
    Filter filter;
    if (one_in(12)) {
      for (std::uint32_t i = below(4) + 1; i > 0 && store.next_sequence() > 0; --i) {
        Bytes32 id = store.event(below(store.next_sequence())).id();
        if (one_in(6)) id.bytes[31] ^= 1;
        filter.ids.push_back(id);
      }
    }
    if (one_in(3)) {
      for (std::uint32_t i = one_in(4) ? 40 : below(3) + 1; i > 0; --i) {
        filter.authors.push_back(test::pubkey(below(i > 12 ? 60 : 14)));
      }
    }
    if (one_in(2)) {
      static constexpr std::uint16_t kKinds[] = {0, 1, 5, 7, 1059, 10'002, 30'023, 4};
      for (std::uint32_t i = below(3) + 1; i > 0; --i) {
        filter.kinds.push_back(kKinds[below(std::size(kKinds))]);
      }
    }
    if (one_in(3)) add_tag(filter);
    if (one_in(12)) add_tag(filter);
    if (one_in(3)) filter.since = instant();
    if (one_in(3)) filter.until = instant();
    if (one_in(2)) filter.limit = one_in(8) ? 0 : below(one_in(3) ? 200 : 12);
    filter.matches_nothing = one_in(40) || filter.since > filter.until;
    normalize(filter.ids);
    normalize(filter.authors);
    normalize(filter.kinds);
    return filter;
  }

  std::vector<Filter> filters(const test::NaiveStore& store) {
    std::vector<Filter> filters;
    for (std::uint32_t i = one_in(2) ? 1 : below(5) + 1; i > 0; --i)
      filters.push_back(filter(store));
    return filters;
  }

  std::uint32_t below(std::uint64_t end) {
    return static_cast<std::uint32_t>(random_.next_u64() % end);
  }
  bool one_in(std::uint64_t chances) { return below(chances) == 0; }

 private:
  template <typename T>
  static void normalize(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  char letter() { return "epatdrEA"[below(8)]; }
  std::string value() {
    static const char* const kValues[] = {"", "x", "y", "z\\n", "w"};
    return kValues[below(std::size(kValues))];
  }
  void add_tag(Filter& filter) {
    nostr::TagCondition tag = {letter(), {}};
    for (const nostr::TagCondition& other : filter.tags) {
      if (other.letter == tag.letter) return;
    }
    // Values are escaped: what an event draft says as z\n in two characters has its backslash
    // doubled.
    static const char* const kValues[] = {"", "x", "y", "z\\\\n", "w", "absent"};
    for (std::uint32_t i = below(3) + 1; i > 0; --i) tag.values.push_back(kValues[below(6)]);
    normalize(tag.values);
    filter.tags.push_back(tag);
  }
  std::int64_t instant() {
    switch (below(8)) {
      case 0: return -1;
      case 1: return std::numeric_limits<std::int64_t>::min();
      case 2: return std::numeric_limits<std::int64_t>::max();
      default: return static_cast<std::int64_t>(kStart) + below(62) - 1;
    }
  }

  SeededRandom random_;
  std::uint64_t events_ = 0;
};

class ScanTest : public ::testing::Test {
 protected:
  void put_events(int count) {
    for (int i = 0; i < count; ++i) shard_.put(generator_.event());
  }
  void kill_some() {
    for (Sequence sequence = 0; sequence < shard_.naive().next_sequence(); ++sequence) {
      if (generator_.one_in(20)) shard_.kill(sequence);
    }
  }
  std::vector<Sequence> expected(std::span<const Filter> filters) {
    return shard_.naive().query(filters, limits_of(filters), access_, kNow,
                                shard_.naive().next_sequence());
  }
  std::vector<Sequence> found(std::span<const Filter> filters, std::uint64_t slice = kEndless) {
    Scan scan(shard_.sources(), filters, limits_of(filters), access_, kNow);
    return drain(scan, slice);
  }
  void compare(int times) {
    for (int i = 0; i < times; ++i) {
      const std::vector<Filter> filters = generator_.filters(shard_.naive());
      ASSERT_EQ(found(filters), expected(filters)) << "filters " << i;
    }
  }
  std::vector<Sequence> found(const Filter& filter) { return found({&filter, 1}); }

  Generator generator_{1};
  IndexedShard shard_;
  OpenAccess access_;
};

TEST_F(ScanTest, AgreesWithTheNaiveStoreOnTablesAndRuns) {
  put_events(300);
  compare(400);
  shard_.checkpoint();
  compare(400);
  for (int run = 0; run < 4; ++run) {
    put_events(250);
    kill_some();
    shard_.checkpoint();
    put_events(100);
    kill_some();
    compare(300);
  }
  shard_.freeze();
  put_events(100);
  compare(300);
  shard_.write_frozen();
  shard_.install();
  shard_.checkpoint();
  shard_.reopen();
  compare(400);
}

TEST_F(ScanTest, AgreesWhateverHappensBetweenItsSlices) {
  put_events(150);
  shard_.checkpoint();
  put_events(150);
  for (int i = 0; i < 250; ++i) {
    const std::vector<Filter> filters = generator_.filters(shard_.naive());
    const std::vector<Sequence> due = expected(filters);
    Scan scan(shard_.sources(), filters, limits_of(filters), access_, kNow);
    std::vector<Sequence> seen;
    bool is_frozen = false;
    for (;;) {
      std::uint64_t budget = 1;
      Sequence sequence;
      nostr::PackedEventView event;
      const Scan::Step step = scan.next(budget, sequence, event);
      if (step == Scan::Step::kFinished) break;
      if (step == Scan::Step::kEvent) seen.push_back(sequence);
      if (generator_.one_in(40)) put_events(1);
      if (!is_frozen && generator_.one_in(300)) {
        shard_.freeze();
        is_frozen = true;
      } else if (is_frozen && generator_.one_in(20)) {
        shard_.write_frozen();
        shard_.install();
        is_frozen = false;
      } else if (!is_frozen && generator_.one_in(200)) {
        shard_.merge();
      }
    }
    if (is_frozen) {
      shard_.write_frozen();
      shard_.install();
    }
    ASSERT_EQ(seen, due) << "filters " << i;
  }
}

TEST_F(ScanTest, LeavesOutWhatDiesBeforeItComesToIt) {
  put_events(300);
  shard_.checkpoint();
  put_events(100);
  const Filter everything;
  const std::vector<Sequence> before = expected({&everything, 1});
  Scan scan(shard_.sources(), {&everything, 1}, {{kEndless}}, access_, kNow);
  std::vector<Sequence> seen;
  for (;;) {
    std::uint64_t budget = 10;
    Sequence sequence;
    nostr::PackedEventView event;
    const Scan::Step step = scan.next(budget, sequence, event);
    if (step == Scan::Step::kFinished) break;
    if (step != Scan::Step::kEvent) continue;
    ASSERT_FALSE(shard_.naive().is_dead(sequence));
    seen.push_back(sequence);
    shard_.kill(generator_.below(400));
  }
  // What is missing is dead, and the order is that of before.
  std::vector<Sequence> alive_or_seen;
  for (const Sequence sequence : before) {
    const bool was_seen = std::find(seen.begin(), seen.end(), sequence) != seen.end();
    if (was_seen || !shard_.naive().is_dead(sequence)) alive_or_seen.push_back(sequence);
  }
  EXPECT_EQ(seen, alive_or_seen);
}

TEST_F(ScanTest, PagesThroughEverythingWithUntil) {
  // Ties span pages: each page goes on at the last second seen, as clients do.
  put_events(400);
  shard_.checkpoint();
  put_events(200);
  Filter page;
  page.limit = 60;
  std::vector<Sequence> seen;
  for (;;) {
    const std::vector<Sequence> part = found(page);
    ASSERT_EQ(part, expected({&page, 1}));
    std::size_t news = 0;
    for (const Sequence sequence : part) {
      if (std::find(seen.begin(), seen.end(), sequence) != seen.end()) continue;
      seen.push_back(sequence);
      ++news;
    }
    if (news == 0) break;
    page.until = static_cast<std::int64_t>(shard_.naive().event(part.back()).created_at());
  }
  const Filter everything;
  EXPECT_EQ(seen, expected({&everything, 1}));
}

TEST_F(ScanTest, OrdersTiesByLowestId) {
  for (int i = 0; i < 50; ++i) {
    shard_.put({.key_index = 1, .created_at = kStart, .content = std::to_string(i)});
    if (i == 20 || i == 35) shard_.checkpoint();
  }
  const Filter everything;
  const std::vector<Sequence> sequences = found(everything);
  ASSERT_EQ(sequences.size(), 50u);
  for (std::size_t i = 1; i < sequences.size(); ++i) {
    EXPECT_LT(shard_.naive().event(sequences[i - 1]).id(), shard_.naive().event(sequences[i]).id());
  }
}

TEST_F(ScanTest, CountsAnEventForEveryFilterItMatches) {
  // Three events of kind 1, the newest two of which also match the second filter.
  for (std::uint64_t i = 0; i < 3; ++i) {
    shard_.put({.key_index = i == 0 ? 1u : 2u, .created_at = kStart + i});
  }
  std::vector<Filter> filters(2);
  filters[0].kinds = {1};
  filters[0].limit = 2;
  filters[1].authors = {test::pubkey(2)};
  filters[1].limit = 2;
  EXPECT_EQ(found(filters), (std::vector<Sequence>{2, 1}));
}

TEST_F(ScanTest, StopsAtTheTotalLimit) {
  put_events(100);
  std::vector<Filter> filters(2);
  filters[0].kinds = {1};
  ScanLimits limits = {{kEndless, kEndless}, 7};
  Scan scan(shard_.sources(), filters, limits, access_, kNow);
  EXPECT_EQ(drain(scan), shard_.naive().query(filters, limits, access_, kNow, 100));
}

TEST_F(ScanTest, SeesOnlyWhatWasStoredWhenItBegan) {
  put_events(20);
  const Filter everything;
  const std::vector<Sequence> due = expected({&everything, 1});
  Scan scan(shard_.sources(), {&everything, 1}, {{kEndless}}, access_, kNow);
  put_events(20);
  EXPECT_EQ(drain(scan), due);
}

TEST_F(ScanTest, LeavesOutWhatTheReaderMaySeeNothingOf) {
  put_events(200);
  const AccessWithoutKind access(1);
  std::vector<Filter> filters(1);
  filters[0].limit = 20;
  const ScanLimits limits = limits_of(filters);
  Scan scan(shard_.sources(), filters, limits, access, kNow);
  const std::vector<Sequence> sequences = drain(scan);
  EXPECT_EQ(sequences, shard_.naive().query(filters, limits, access, kNow, 200));
  EXPECT_EQ(sequences.size(), 20u);  // What may not be seen does not count.
}

TEST_F(ScanTest, LeavesOutWhatHasExpired) {
  const std::string now = std::to_string(kNow);
  const std::string later = std::to_string(kNow + 1);
  shard_.put({.created_at = kStart, .tags = {{"expiration", now}}});
  const Sequence alive = shard_.put({.created_at = kStart, .tags = {{"expiration", later}}});
  EXPECT_EQ(found(Filter()), std::vector<Sequence>{alive});
}

TEST_F(ScanTest, PausesWhenTheBudgetIsSpent) {
  put_events(100);
  const Filter everything;
  Scan scan(shard_.sources(), {&everything, 1}, {{kEndless}}, access_, kNow);
  Sequence sequence;
  nostr::PackedEventView event;
  std::uint64_t budget = 0;
  EXPECT_EQ(scan.next(budget, sequence, event), Scan::Step::kPaused);
  budget = 1000;
  EXPECT_EQ(scan.next(budget, sequence, event), Scan::Step::kEvent);
  EXPECT_LT(budget, 1000u);
  EXPECT_GT(budget, 900u);
  EXPECT_EQ(event.id(), shard_.naive().event(sequence).id());
  for (;;) {
    const std::uint64_t before = budget = 7;
    const std::uint64_t candidates = scan.statistics().candidates;
    const Scan::Step step = scan.next(budget, sequence, event);
    EXPECT_LE(scan.statistics().candidates - candidates, before - budget);
    if (step == Scan::Step::kFinished) break;
  }
  EXPECT_EQ(scan.statistics().candidates, 100u);
}

TEST_F(ScanTest, OfFiltersThatMatchNothingIsFinishedAtOnce) {
  put_events(10);
  std::vector<Filter> filters(3);
  filters[0].matches_nothing = true;
  filters[1].limit = 0;
  filters[2].until = -1;
  Scan scan(shard_.sources(), filters, limits_of(filters), access_, kNow);
  EXPECT_TRUE(drain(scan).empty());
  EXPECT_EQ(scan.statistics().candidates, 0u);
  Scan none(shard_.sources(), {}, {}, access_, kNow);
  EXPECT_TRUE(drain(none).empty());
}

TEST_F(ScanTest, AnswersHundredsOfFilters) {
  put_events(200);
  shard_.checkpoint();
  put_events(100);
  std::vector<Filter> filters;
  for (int i = 0; i < 300; ++i) filters.push_back(generator_.filter(shard_.naive()));
  EXPECT_EQ(found(filters), expected(filters));
  EXPECT_EQ(found(filters, 1), expected(filters));
}

TEST_F(ScanTest, AnswersThousandsOfAuthors) {
  put_events(300);
  shard_.checkpoint();
  put_events(100);
  Filter filter;
  for (std::uint32_t i = 0; i < 5000; ++i) {
    Bytes32 key;
    key.bytes[0] = static_cast<std::uint8_t>(i);
    key.bytes[1] = static_cast<std::uint8_t>(i >> 8);
    filter.authors.push_back(key);
  }
  for (std::uint32_t i = 0; i < 8; ++i) filter.authors.push_back(test::pubkey(i));
  std::sort(filter.authors.begin(), filter.authors.end());
  filter.limit = 50;
  EXPECT_EQ(found(filter), expected({&filter, 1}));
  filter.kinds = {1};
  EXPECT_EQ(found(filter), expected({&filter, 1}));
  filter.limit.reset();
  EXPECT_EQ(found(filter), expected({&filter, 1}));
}

// Few of many authors' events are wanted: first the kind is walked, and if the matches lie deep the
// scan goes over to the authors in the midst of it.
TEST_F(ScanTest, GivesUpABroadWalkWithoutLosingAnything) {
  constexpr std::uint32_t kAuthors = 64;
  for (std::uint32_t i = 0; i < 1600; ++i) {
    // What the sought authors wrote is older than all else.
    const bool is_sought = i < 400;
    shard_.put({.key_index = is_sought ? i % kAuthors : 100 + i % 20,
                .created_at = kStart + (is_sought ? i / 10 : 1000 + i / 3),
                .content = std::to_string(i)});
    if (i == 800) shard_.checkpoint();
  }
  Filter filter;
  for (std::uint32_t i = 0; i < kAuthors; ++i) filter.authors.push_back(test::pubkey(i));
  std::sort(filter.authors.begin(), filter.authors.end());
  filter.kinds = {1};
  filter.limit = 30;
  Scan scan(shard_.sources(), {&filter, 1}, {{30}}, access_, kNow);
  EXPECT_EQ(drain(scan), expected({&filter, 1}));
  // All 1200 younger ones would have been looked at.
  EXPECT_LT(scan.statistics().candidates, 1000u);
  EXPECT_GT(scan.statistics().candidates, 30u);
  // Together with a filter that is already further.
  std::vector<Filter> filters = {filter, Filter()};
  filters[1].limit = 700;
  EXPECT_EQ(found(filters), expected(filters));
  EXPECT_EQ(found(filters, 1), expected(filters));
}

// The worker writes directory and run while the shard goes on; under a thread sanitizer this shows
// that they touch nothing in common.
TEST_F(ScanTest, AgreesWhileAThreadWritesTheCheckpoint) {
  const std::string folder = ::testing::TempDir() + "gyre-scan-test-" + std::to_string(getpid());
  {
    IndexedShard shard(posix_file_system(), folder);
    for (int round = 0; round < 4; ++round) {
      for (int i = 0; i < 300; ++i) shard.put(generator_.event());
      for (int i = 0; i < 40; ++i) shard.kill(generator_.below(shard.naive().next_sequence()));
      shard.freeze();
      std::thread worker([&shard] { shard.write_frozen(); });
      for (int i = 0; i < 60; ++i) {
        shard.put(generator_.event());
        shard.kill(generator_.below(shard.naive().next_sequence()));
        const std::vector<Filter> filters = generator_.filters(shard.naive());
        const ScanLimits limits = limits_of(filters);
        Scan scan(shard.sources(), filters, limits, access_, kNow);
        EXPECT_EQ(drain(scan), shard.naive().query(filters, limits, access_, kNow,
                                                   shard.naive().next_sequence()));
      }
      worker.join();
      shard.install();
    }
    shard.merge();
    const Filter everything;
    Scan scan(shard.sources(), {&everything, 1}, {{kEndless}}, access_, kNow);
    EXPECT_EQ(drain(scan), shard.naive().query({&everything, 1}, {{kEndless}}, access_, kNow,
                                               shard.naive().next_sequence()));
  }
  std::filesystem::remove_all(folder);
}

TEST_F(ScanTest, CanBeMoved) {
  put_events(30);
  const Filter everything;
  Scan scan(shard_.sources(), {&everything, 1}, {{kEndless}}, access_, kNow);
  std::uint64_t budget = kEndless;
  Sequence first;
  nostr::PackedEventView event;
  ASSERT_EQ(scan.next(budget, first, event), Scan::Step::kEvent);
  Scan moved = std::move(scan);
  std::vector<Sequence> sequences = {first};
  const std::vector<Sequence> rest = drain(moved);
  sequences.insert(sequences.end(), rest.begin(), rest.end());
  EXPECT_EQ(sequences, expected({&everything, 1}));
}

TEST_F(ScanTest, ReadsTheEventOfASequence) {
  put_events(5);
  shard_.checkpoint();
  put_events(5);
  for (Sequence sequence = 0; sequence < 10; ++sequence) {
    EXPECT_EQ(read_event(shard_.sources(), shard_.directory().row(sequence)).json(),
              shard_.naive().event(sequence).json());
  }
}

// Scans of events that are on the disk.
class ColdScanTest : public ScanTest {
 protected:
  struct Running {
    Running(ColdScanTest& test, std::vector<Filter> wanted)
        : filters(std::move(wanted)),
          due(test.expected(filters)),
          scan(test.shard_.sources(), filters, limits_of(filters), test.access_, kNow, &waiter) {}

    std::vector<Filter> filters;
    std::vector<Sequence> due;
    std::vector<Sequence> found;
    CountingWaiter waiter;
    int calls_seen = 0;
    bool is_waiting = false;
    bool is_finished = false;
    Scan scan;
  };

  void put_on_disk() {
    put_events(200);
    shard_.checkpoint();
    put_events(150);
    kill_some();
    shard_.make_cold(reader_);
  }
  std::unique_ptr<Running> start() {
    return std::make_unique<Running>(*this, generator_.filters(shard_.naive()));
  }
  // A step of a scan that has not been told to wait, as a query runner takes it.
  void step(Running& running) {
    if (running.is_waiting && running.waiter.calls == running.calls_seen) return;
    running.is_waiting = false;
    std::uint64_t budget = 1 + generator_.below(40);
    Sequence sequence = 0;
    nostr::PackedEventView event;
    running.calls_seen = running.waiter.calls;
    switch (running.scan.next(budget, sequence, event)) {
      case Scan::Step::kEvent:
        EXPECT_EQ(event.json(), shard_.naive().event(sequence).json());
        running.found.push_back(sequence);
        break;
      case Scan::Step::kPaused: break;
      case Scan::Step::kWaiting: running.is_waiting = true; break;
      case Scan::Step::kFinished: running.is_finished = true; break;
    }
  }

  ManualFileReader reader_{shard_.disk()};
  SeededRandom random_{5};
};

TEST_F(ColdScanTest, OneAfterTheOtherAgreesWithTheNaiveStore) {
  put_on_disk();
  for (int i = 0; i < 300; ++i) {
    const std::unique_ptr<Running> running = start();
    while (!running->is_finished) {
      step(*running);
      if (running->is_waiting && running->waiter.calls == running->calls_seen) {
        ASSERT_GT(reader_.count(), 0u) << "it waits for nothing";
        reader_.complete_some(random_);
      }
      if (!running->is_waiting && generator_.one_in(15)) running->scan.release_reads();
    }
    ASSERT_EQ(running->found, running->due) << "filters " << i;
    reader_.complete_all();
  }
}

TEST_F(ColdScanTest, ManyAtOnceShareTheBuffersAndAllFinish) {
  put_on_disk();
  for (int round = 0; round < 15; ++round) {
    std::vector<std::unique_ptr<Running>> all;
    for (int i = 0; i < 40; ++i) all.push_back(start());
    while (!all.empty()) {
      const std::size_t chosen = generator_.below(all.size());
      step(*all[chosen]);
      const bool is_cancelled = generator_.one_in(2'000);
      if (all[chosen]->is_finished) {
        ASSERT_EQ(all[chosen]->found, all[chosen]->due);
      }
      if (all[chosen]->is_finished || is_cancelled) {
        all.erase(all.begin() + static_cast<std::ptrdiff_t>(chosen));
      }
      ASSERT_LE(reader_.count(), ColdReads::kReadsMax);
      if (reader_.count() > 0 && generator_.one_in(3)) reader_.complete_some(random_);
      const bool may_go_on = std::ranges::any_of(all, [](const auto& each) {
        return !each->is_waiting || each->waiter.calls != each->calls_seen;
      });
      ASSERT_TRUE(all.empty() || may_go_on || reader_.count() > 0) << "all wait, for nothing";
    }
    reader_.complete_all();
  }
}

TEST_F(ColdScanTest, AnEventThatDiesWhileItIsReadIsNotServed) {
  const Sequence dying = shard_.put({.content = "dying"});
  const Sequence staying = shard_.put({.content = "staying"});
  shard_.make_cold(reader_);
  Running running(*this, {Filter()});
  step(running);
  ASSERT_TRUE(running.is_waiting);
  shard_.kill(dying);
  reader_.complete_all();
  while (!running.is_finished) step(running);
  EXPECT_EQ(running.found, std::vector<Sequence>{staying});
}

TEST_F(ColdScanTest, AnEventThatCannotBeReadIsLeftOutAlone) {
  shard_.put({.content = "a"});
  shard_.put({.content = "b"});
  shard_.put({.content = "c"});
  shard_.make_cold(reader_);
  Running running(*this, {Filter()});
  step(running);
  ASSERT_EQ(reader_.count(), 3u);
  reader_.fail(1, EIO);
  reader_.complete_all();
  while (!running.is_finished) step(running);
  EXPECT_EQ(running.found.size(), 2u);
  EXPECT_EQ(shard_.sources().log.damage().failed_reads, 1u);
}

TEST_F(ColdScanTest, ReadsNoMoreAheadThanTheFilterWants) {
  put_events(100);
  shard_.make_cold(reader_);
  const auto reads_of = [this](const Filter& filter) {
    Running running(*this, {filter});
    std::uint64_t budget = 1'000;
    Sequence sequence = 0;
    nostr::PackedEventView event;
    EXPECT_EQ(running.scan.next(budget, sequence, event), Scan::Step::kWaiting);
    const std::size_t count = reader_.count();
    reader_.complete_all();
    return count;
  };
  Filter filter;
  EXPECT_EQ(reads_of(filter), Scan::kReadsAheadMax);
  filter.limit = 3;
  EXPECT_EQ(reads_of(filter), 3u);
}

}  // namespace
}  // namespace gyre::storage

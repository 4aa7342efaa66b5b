// A store with a past: few authors who replace, delete, vanish and let expire, over many small
// segments; and what the store answers, so that it can be asked before and after compaction.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "gyre/storage/manifest.h"
#include "storage/segment_compactor.h"
#include "unit/storage/store_harness.h"

namespace gyre::storage {

class CompactionHistory {
 public:
  // Everything that somebody outside can learn of a store.
  struct Answers {
    std::vector<PackedEvent> served;
    std::uint64_t events_alive = 0;
    std::uint64_t events_total = 0;
    std::vector<Verdict> verdicts;
    friend bool operator==(const Answers&, const Answers&) = default;
  };

  explicit CompactionHistory(std::uint64_t seed)
      : harness(StoreHarness::Disk::kSimulated, seed), random_(seed) {
    harness.options.log.segment_bytes = 4096 * (1 + below(3));
    harness.options.log.reserve_bytes = 2048;
    harness.options.postings.table_postings_max = 100 + below(200);
    harness.options.compaction = {.dead_share = 1, .gain_bytes_min = 256};
  }

  // Lives for `steps` steps, with checkpoints as they come.
  void live(std::uint64_t steps) {
    for (std::uint64_t i = 0; i < steps; ++i) step();
    harness.settle();
  }

  void step() {
    harness.clock.advance_s(below(3));
    switch (below(16)) {
      case 0: (void)harness.store->sweep_expired(100'000); break;
      case 1: (void)harness.store->apply_foreign_request(view_of(make_foreign_request())); break;
      default: {
        const PackedEvent event = make_event();
        known_.push_back(event);
        while (harness.store->put(view_of(event)).verdict == Verdict::kBusy) harness.settle();
        break;
      }
    }
    harness.settle();
  }

  [[nodiscard]] Answers answers() {
    Answers answers;
    answers.served = harness.find({});
    answers.events_alive = harness.store->statistics().events_alive;
    answers.events_total = harness.store->statistics().events_total;
    for (const PackedEvent& event : known_) {
      answers.verdicts.push_back(harness.store->check(view_of(event)));
    }
    for (const PackedEvent& probe : probes()) {
      answers.verdicts.push_back(harness.store->check(view_of(probe)));
    }
    return answers;
  }

  StoreHarness harness;

 private:
  static constexpr std::uint32_t kAuthors = 5;
  static constexpr std::uint32_t kForeignAuthor = 50;
  static constexpr std::uint64_t kTime = 1'600'000'000;
  static constexpr std::uint64_t kTimes = 40;

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.next_u64() % bound; }
  [[nodiscard]] std::string some_id() {
    return known_.empty() ? std::string(64, '0') : id_of(known_[below(known_.size())]);
  }

  PackedEvent make_event() {
    constexpr std::uint16_t kKinds[] = {1,      1,      1,      1,      0,    0,    10'002, 30'023,
                                        30'023, 30'023, 30'023, 30'023, 1059, 1059, 5,      5};
    test::EventDraft draft;
    draft.key_index = 1 + static_cast<std::uint32_t>(below(kAuthors));
    draft.kind = below(120) == 0 ? 62 : kKinds[below(std::size(kKinds))];
    draft.created_at = kTime + below(kTimes);
    draft.content =
        std::to_string(known_.size()) + std::string(below(5) == 0 ? below(900) : 0, 'c');
    const std::string author = test::pubkey_hex(draft.key_index);
    if (draft.kind == 30'023) draft.tags.push_back({"d", std::string(1, name(below(3)))});
    if (draft.kind == 1059) {
      const std::uint32_t recipient = 1 + static_cast<std::uint32_t>(below(kAuthors));
      draft.tags.push_back({"p", test::pubkey_hex(below(3) == 0 ? kForeignAuthor : recipient)});
    }
    if (draft.kind == 5) {
      for (std::uint64_t i = below(3); i < 3; ++i) draft.tags.push_back({"e", some_id()});
      if (below(3) == 0) draft.tags.push_back({"a", "30023:" + author + ":" + name(below(3))});
    }
    if (below(6) == 0) {
      const std::int64_t until = harness.clock.unix_s() + 1 + static_cast<std::int64_t>(below(90));
      draft.tags.push_back({"expiration", std::to_string(until)});
    }
    return test::pack_unsigned_event(draft);
  }

  PackedEvent make_foreign_request() {
    test::EventDraft draft;
    draft.key_index = kForeignAuthor;
    draft.created_at = kTime + below(kTimes);
    draft.kind = below(20) == 0 ? 62 : 5;
    for (int i = 0; i < 3; ++i) draft.tags.push_back({"e", some_id()});
    return test::pack_unsigned_event(draft);
  }

  static char name(std::uint64_t number) { return static_cast<char>('x' + number); }

  // For every address and time an event that was never seen, and one of each author's own.
  [[nodiscard]] static std::vector<PackedEvent> probes() {
    std::vector<PackedEvent> probes;
    for (std::uint32_t author = 1; author <= kAuthors; ++author) {
      for (std::uint64_t time = 0; time < kTimes; ++time) {
        test::EventDraft draft{.key_index = author, .created_at = kTime + time, .content = "probe"};
        constexpr std::uint16_t kKinds[] = {1, 0, 10'002, 30'023};
        for (const std::uint16_t kind : kKinds) {
          draft.kind = kind;
          draft.tags.clear();
          if (kind == 30'023) draft.tags.push_back({"d", std::string(1, name(time % 3))});
          probes.push_back(test::pack_unsigned_event(draft));
        }
      }
    }
    return probes;
  }

  SeededRandom random_;
  std::vector<PackedEvent> known_;
};

}  // namespace gyre::storage

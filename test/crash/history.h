// History: what few authors do to one shard, cut by power failures and kills wherever they may
// fall.
//
// What must hold afterwards: the store is what the rules make of some beginning of the history that
// has all that was acknowledged. So every acknowledged event is there or was replaced, deleted or
// expired by one that is; none is altered, none is invented; deletions hold for events that come
// again; `gyre check` finds nothing; and recovering twice is recovering once. Whatever does not
// hold is a failure of the GoogleTest test that runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "unit/storage/naive_rules.h"

namespace gyre::storage {

class History {
 public:
  // Small ones end by an orderly close; long ones see a clock that goes on, large tables, and
  // power failures while they recover.
  enum class Size : std::uint8_t { kSmall, kLong };
  static constexpr std::uint64_t kNever = UINT32_MAX;

  // The same seed makes the same history, as long as it is not cut.
  History(std::uint64_t seed, Size size, Durability durability);

  // One process's life, to its end by a power failure after so many operations of the disk, by a
  // kill, or by an orderly close. False if the power did not fail before that.
  bool live(std::uint64_t operations_until_failure);
  // Opens the store. The power fails after so many operations, if it takes as many; then it is
  // opened again. False if the power did not fail.
  bool recover(std::uint64_t operations_until_failure);
  // The files are sound, and opening them once more changes nothing.
  void check_and_recover_again();

  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    return harness_.random.next_u64() % bound;
  }

  // What has happened, so that tests can tell that something did.
  struct Outcome {
    std::uint64_t crashes = 0;  // Followed by a recovery.
    std::uint64_t checkpoints = 0;
    std::uint64_t merges = 0;
    std::uint64_t compactions = 0;
    std::uint64_t forgotten = 0;  // Manifests.
  };
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }

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

  [[nodiscard]] bool is_off() const { return harness_.disk.is_powered_off(); }
  [[nodiscard]] std::int64_t now_s() const { return harness_.clock.unix_s(); }

  void choose_options();
  [[nodiscard]] std::string some_id();
  [[nodiscard]] PackedEvent make_event();
  [[nodiscard]] PackedEvent make_foreign_request();

  void step();
  void put(const PackedEvent& event);
  void apply_foreign();
  void sweep();
  void do_deed(Deed::Type type, const PackedEvent* event);
  static void redo(const Deed& deed, NaiveRules& rules);
  void note_acknowledged();
  void close();
  void forget_index();
  void fail_power();

  [[nodiscard]] std::set<PackedEvent> found();
  [[nodiscard]] std::set<PackedEvent> expected(const NaiveRules& rules) const;
  void cut_to_what_was_found();
  void expect_the_rules_to_hold();

  const Size size_;
  const Durability durability_;
  StoreHarness harness_;
  std::vector<PackedEvent> pool_;
  std::vector<PackedEvent> foreign_requests_;
  std::vector<Deed> deeds_;
  std::size_t acknowledged_ = 0;  // Deeds.
  std::uint64_t runs_at_start_ = 0;
  NaiveRules rules_;
  Outcome outcome_;
};

}  // namespace gyre::storage

// Who may come in and who must go: NIP-01 replacement, NIP-09, NIP-40, NIP-59 and NIP-62. Each rule
// holds at once, after a restart, after a checkpoint, and after both.
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

using test::EventDraft;
using test::pack_unsigned_event;
using test::pubkey_hex;

constexpr std::uint32_t kAlice = 1;
constexpr std::uint32_t kBob = 2;
constexpr std::uint32_t kCarol = 3;
constexpr std::uint32_t kThrowAway = 4;
constexpr std::uint64_t kTime = 1'600'000'000;  // In the past of the simulated clock.

using Tags = std::vector<std::vector<std::string>>;

enum class Aftermath : std::uint8_t { kAtOnce, kReopened, kCheckpointed, kCheckpointedAndReopened };

struct Variant {
  StoreHarness::Disk disk;
  Aftermath aftermath;
};

class StoreRules : public testing::TestWithParam<Variant> {
 protected:
  StoreRules() : harness_(GetParam().disk) {
    if (checkpoints()) harness_.options.postings.table_postings_max = 64;
    const absl::Status status = harness_.open();
    EXPECT_TRUE(status.ok()) << status.ToString();
  }

  // To be called between cause and effect.
  void let_time_tell() {
    harness_.settle();
    if (checkpoints()) harness_.checkpoint();
    const Aftermath aftermath = GetParam().aftermath;
    if (aftermath == Aftermath::kReopened || aftermath == Aftermath::kCheckpointedAndReopened) {
      harness_.reopen();
    }
  }

  Verdict put(const PackedEvent& event) {
    const Verdict checked = harness_.store->check(view_of(event));
    const Store::PutResult result = harness_.store->put(view_of(event));
    EXPECT_EQ(checked, result.verdict);
    harness_.settle();
    return result.verdict;
  }
  Verdict apply_foreign(const PackedEvent& request) {
    const Verdict verdict = harness_.store->apply_foreign_request(view_of(request)).verdict;
    harness_.settle();
    return verdict;
  }
  bool is_served(const PackedEvent& event) { return harness_.is_served(event); }
  Store& store() { return *harness_.store; }

  static PackedEvent deletion(std::uint32_t key, Tags tags,
                              std::uint64_t created_at = kTime + 100) {
    return pack_unsigned_event(
        {.key_index = key, .created_at = created_at, .kind = 5, .tags = std::move(tags)});
  }
  static PackedEvent vanish(std::uint32_t key, std::uint64_t created_at) {
    return pack_unsigned_event({.key_index = key,
                                .created_at = created_at,
                                .kind = 62,
                                .tags = {{"relay", "ALL_RELAYS"}}});
  }
  static PackedEvent note(std::uint32_t key, std::uint64_t created_at, std::string content = "") {
    return pack_unsigned_event(
        {.key_index = key, .created_at = created_at, .content = std::move(content)});
  }
  static PackedEvent wrap(std::uint32_t recipient, std::uint64_t created_at) {
    return pack_unsigned_event({.key_index = kThrowAway,
                                .created_at = created_at,
                                .kind = 1059,
                                .tags = {{"p", pubkey_hex(recipient)}}});
  }
  static PackedEvent article(std::uint32_t key, std::uint64_t created_at, Tags tags,
                             std::string content = "") {
    return pack_unsigned_event({.key_index = key,
                                .created_at = created_at,
                                .kind = 30'023,
                                .tags = std::move(tags),
                                .content = std::move(content)});
  }
  static PackedEvent profile(std::uint32_t key, std::uint64_t created_at,
                             std::string content = "") {
    return pack_unsigned_event(
        {.key_index = key, .created_at = created_at, .kind = 0, .content = std::move(content)});
  }
  static std::string address(int kind, std::uint32_t key, const std::string& d) {
    return std::to_string(kind) + ":" + pubkey_hex(key) + ":" + d;
  }

  StoreHarness harness_;

 private:
  static bool checkpoints() {
    return GetParam().aftermath == Aftermath::kCheckpointed ||
           GetParam().aftermath == Aftermath::kCheckpointedAndReopened;
  }
};

INSTANTIATE_TEST_SUITE_P(
    Everywhere, StoreRules,
    testing::Values(Variant{StoreHarness::Disk::kSimulated, Aftermath::kAtOnce},
                    Variant{StoreHarness::Disk::kSimulated, Aftermath::kReopened},
                    Variant{StoreHarness::Disk::kSimulated, Aftermath::kCheckpointed},
                    Variant{StoreHarness::Disk::kSimulated, Aftermath::kCheckpointedAndReopened},
                    Variant{StoreHarness::Disk::kPosix, Aftermath::kReopened},
                    Variant{StoreHarness::Disk::kPosix, Aftermath::kCheckpointedAndReopened}),
    [](const testing::TestParamInfo<Variant>& variant) {
      const char* const disk =
          variant.param.disk == StoreHarness::Disk::kPosix ? "OnPosix" : "OnSimulatedDisk";
      switch (variant.param.aftermath) {
        case Aftermath::kAtOnce: return std::string(disk) + "AtOnce";
        case Aftermath::kReopened: return std::string(disk) + "Reopened";
        case Aftermath::kCheckpointed: return std::string(disk) + "Checkpointed";
        case Aftermath::kCheckpointedAndReopened: break;
      }
      return std::string(disk) + "CheckpointedAndReopened";
    });

// NIP-01: ids, replaceable and addressable events.

TEST_P(StoreRules, KnownEventIsADuplicate) {
  const PackedEvent event = note(kAlice, kTime);
  EXPECT_EQ(put(event), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(event), Verdict::kDuplicate);
  EXPECT_TRUE(is_served(event));
}

TEST_P(StoreRules, RegularEventsOfOneAuthorStandSideBySide) {
  std::vector<PackedEvent> events;
  constexpr std::uint16_t kKinds[] = {1, 2, 4, 7, 44, 64, 443, 999, 1000, 9999, 40'000, 65'535};
  for (const std::uint16_t kind : kKinds) {
    for (const char* const content : {"a", "b"}) {
      events.push_back(pack_unsigned_event(
          {.key_index = kAlice, .created_at = kTime, .kind = kind, .content = content}));
      EXPECT_EQ(put(events.back()), Verdict::kAccept) << kind;
    }
  }
  let_time_tell();
  for (const PackedEvent& event : events) EXPECT_TRUE(is_served(event));
}

TEST_P(StoreRules, NewerVersionReplacesAndOlderIsStale) {
  constexpr std::uint16_t kKinds[] = {0, 3, 10'000, 10'002, 19'999, 30'000, 39'999};
  for (const std::uint16_t kind : kKinds) {
    const auto version = [&](std::uint64_t created_at) {
      return pack_unsigned_event({.key_index = kAlice, .created_at = created_at, .kind = kind});
    };
    EXPECT_EQ(put(version(kTime + 1)), Verdict::kAccept) << kind;
    EXPECT_EQ(put(version(kTime + 2)), Verdict::kAccept) << kind;
    let_time_tell();
    EXPECT_FALSE(is_served(version(kTime + 1))) << kind;
    EXPECT_TRUE(is_served(version(kTime + 2))) << kind;
    EXPECT_EQ(put(version(kTime)), Verdict::kStale) << kind;
    EXPECT_EQ(put(version(kTime + 1)), Verdict::kStale) << kind;
    EXPECT_EQ(put(version(kTime + 2)), Verdict::kDuplicate) << kind;
    EXPECT_EQ(put(version(kTime + 3)), Verdict::kAccept) << kind;
    EXPECT_FALSE(is_served(version(kTime + 2))) << kind;
  }
}

TEST_P(StoreRules, OfVersionsOfOneSecondTheLowestIdStaysWhicheverCameFirst) {
  constexpr std::uint16_t kKinds[] = {3, 10'002, 30'023};
  for (const std::uint16_t kind : kKinds) {
    const auto version = [&](std::uint32_t key, const char* content) {
      return pack_unsigned_event(
          {.key_index = key, .created_at = kTime, .kind = kind, .content = content});
    };
    for (const std::uint32_t key : {kAlice, kBob}) {
      PackedEvent low = version(key, "a");
      PackedEvent high = version(key, "b");
      if (id_of(high) < id_of(low)) std::swap(low, high);
      const bool is_low_first = key == kAlice;
      EXPECT_EQ(put(is_low_first ? low : high), Verdict::kAccept);
      let_time_tell();
      EXPECT_EQ(put(is_low_first ? high : low), is_low_first ? Verdict::kStale : Verdict::kAccept);
      EXPECT_TRUE(is_served(low));
      EXPECT_FALSE(is_served(high));
      EXPECT_EQ(put(high), Verdict::kStale);
    }
  }
}

TEST_P(StoreRules, DTagMeansNothingOnReplaceableKinds) {
  const auto with_d = [](std::uint64_t created_at, const char* d) {
    return pack_unsigned_event(
        {.key_index = kAlice, .created_at = created_at, .kind = 10'002, .tags = {{"d", d}}});
  };
  EXPECT_EQ(put(with_d(kTime, "x")), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(with_d(kTime + 1, "y")), Verdict::kAccept);
  EXPECT_FALSE(is_served(with_d(kTime, "x")));
}

TEST_P(StoreRules, MissingBareAndEmptyDTagAreOneAddress) {
  const std::vector<Tags> same = {{}, {{"d"}}, {{"d", ""}}, {{"d"}, {"d", "x"}}, {{"d", "", "x"}}};
  std::optional<PackedEvent> last;
  for (std::size_t i = 0; i < same.size(); ++i) {
    const PackedEvent event = article(kAlice, kTime + i, same[i]);
    EXPECT_EQ(put(event), Verdict::kAccept) << i;
    let_time_tell();
    if (last) {
      EXPECT_FALSE(is_served(*last)) << i;
    }
    EXPECT_TRUE(is_served(event)) << i;
    last = event;
  }
}

TEST_P(StoreRules, FirstDTagAloneNamesTheAddressAndAddressesAreApart) {
  const PackedEvent x = article(kAlice, kTime, {{"d", "x"}, {"d", "y"}});
  const PackedEvent y = article(kAlice, kTime, {{"d", "y"}});
  const PackedEvent bobs = article(kBob, kTime, {{"d", "x"}});
  const PackedEvent other_kind = pack_unsigned_event(
      {.key_index = kAlice, .created_at = kTime, .kind = 30'024, .tags = {{"d", "x"}}});
  for (const PackedEvent& event : {x, y, bobs, other_kind}) {
    EXPECT_EQ(put(event), Verdict::kAccept);
  }
  let_time_tell();
  EXPECT_EQ(put(article(kAlice, kTime + 1, {{"d", "x"}})), Verdict::kAccept);
  EXPECT_FALSE(is_served(x));
  for (const PackedEvent& event : {y, bobs, other_kind}) EXPECT_TRUE(is_served(event));
}

// NIP-09: deletion requests.

TEST_P(StoreRules, DeletionByIdTakesEffectAndTheEventCannotComeBack) {
  const PackedEvent event = note(kAlice, kTime + 500);  // Newer than the request: no matter.
  const PackedEvent kept = note(kAlice, kTime);
  const PackedEvent request =
      deletion(kAlice, {{"e", id_of(event)}, {"k", "7"}, {"e", "not an id"}});
  EXPECT_EQ(put(event), Verdict::kAccept);
  EXPECT_EQ(put(kept), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(request), Verdict::kAccept);
  EXPECT_FALSE(is_served(event));
  let_time_tell();
  EXPECT_FALSE(is_served(event));
  EXPECT_EQ(put(event), Verdict::kDeleted);
  EXPECT_TRUE(is_served(request));
  EXPECT_TRUE(is_served(kept));
  EXPECT_EQ(put(request), Verdict::kDuplicate);
}

TEST_P(StoreRules, DeletionOfAnotherAuthorsEventHasNoEffect) {
  const PackedEvent before = note(kBob, kTime);
  const PackedEvent after = note(kBob, kTime + 1);
  EXPECT_EQ(put(before), Verdict::kAccept);
  const PackedEvent request = deletion(kAlice, {{"e", id_of(before)}, {"e", id_of(after)}});
  EXPECT_EQ(put(request), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(after), Verdict::kAccept);
  EXPECT_TRUE(is_served(before));
  EXPECT_TRUE(is_served(after));
  EXPECT_TRUE(is_served(request));
}

TEST_P(StoreRules, DeletionIsRememberedForAnEventThatComesLater) {
  const PackedEvent event = note(kAlice, kTime);
  EXPECT_EQ(put(deletion(kAlice, {{"e", id_of(event)}})), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(event), Verdict::kDeleted);
  EXPECT_FALSE(is_served(event));
}

TEST_P(StoreRules, DeletionByAddressReachesUpToItsOwnTime) {
  const PackedEvent request = deletion(
      kAlice, {{"a", address(30'023, kAlice, "a:b")}, {"a", address(0, kAlice, "")}}, kTime + 10);
  const Tags tags = {{"d", "a:b"}};
  EXPECT_EQ(put(article(kAlice, kTime, tags)), Verdict::kAccept);
  EXPECT_EQ(put(profile(kAlice, kTime + 10)), Verdict::kAccept);
  EXPECT_EQ(put(article(kAlice, kTime, {{"d", "a"}})), Verdict::kAccept);
  EXPECT_EQ(put(article(kBob, kTime, tags)), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(request), Verdict::kAccept);
  EXPECT_FALSE(is_served(article(kAlice, kTime, tags)));
  EXPECT_FALSE(is_served(profile(kAlice, kTime + 10)));
  let_time_tell();
  EXPECT_FALSE(is_served(article(kAlice, kTime, tags)));
  EXPECT_FALSE(is_served(profile(kAlice, kTime + 10)));
  EXPECT_TRUE(is_served(article(kAlice, kTime, {{"d", "a"}})));
  EXPECT_TRUE(is_served(article(kBob, kTime, tags)));
  EXPECT_EQ(put(article(kAlice, kTime, tags)), Verdict::kDeleted);
  EXPECT_EQ(put(article(kAlice, kTime + 10, tags, "at its time")), Verdict::kDeleted);
  EXPECT_EQ(put(article(kAlice, kTime + 11, tags)), Verdict::kAccept);
  EXPECT_EQ(put(profile(kAlice, kTime + 10, "at its time")), Verdict::kDeleted);
  EXPECT_EQ(put(profile(kAlice, kTime + 11)), Verdict::kAccept);
}

TEST_P(StoreRules, DeletionByAddressLeavesNewerVersions) {
  EXPECT_EQ(put(article(kAlice, kTime + 20, {{"d", "x"}})), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(deletion(kAlice, {{"a", address(30'023, kAlice, "x")}}, kTime + 10)),
            Verdict::kAccept);
  EXPECT_TRUE(is_served(article(kAlice, kTime + 20, {{"d", "x"}})));
}

TEST_P(StoreRules, AddressThatNamesNothingOfTheAuthorsHasNoEffect) {
  const std::vector<PackedEvent> events = {note(kAlice, kTime), profile(kAlice, kTime),
                                           article(kAlice, kTime, {{"d", "x"}}),
                                           article(kBob, kTime, {{"d", "x"}})};
  for (const PackedEvent& event : events) EXPECT_EQ(put(event), Verdict::kAccept);
  const PackedEvent request = deletion(kAlice, {{"a", address(30'023, kBob, "x")},
                                                {"a", address(1, kAlice, "")},
                                                {"a", address(0, kAlice, "x")},
                                                {"a", "0:" + pubkey_hex(kAlice)},
                                                {"a", ""},
                                                {"a"},
                                                {"a", "00:" + pubkey_hex(kAlice) + ":"},
                                                {"a", "30023::x"},
                                                {"e"},
                                                {"e", ""}});
  EXPECT_EQ(put(request), Verdict::kAccept);
  EXPECT_EQ(put(deletion(kAlice, {})), Verdict::kAccept);
  let_time_tell();
  for (const PackedEvent& event : events) EXPECT_TRUE(is_served(event));
}

TEST_P(StoreRules, DeletingADeletionChangesNothing) {
  const PackedEvent event = note(kAlice, kTime);
  const PackedEvent request = deletion(kAlice, {{"e", id_of(event)}});
  EXPECT_EQ(put(event), Verdict::kAccept);
  EXPECT_EQ(put(request), Verdict::kAccept);
  const PackedEvent second = deletion(kAlice, {{"e", id_of(request)}}, kTime + 200);
  EXPECT_EQ(put(second), Verdict::kAccept);
  let_time_tell();
  EXPECT_TRUE(is_served(request));
  EXPECT_EQ(put(event), Verdict::kDeleted);
  EXPECT_EQ(put(request), Verdict::kDuplicate);
}

TEST_P(StoreRules, DeletionRequestThatADeletionNamedFirstStillComesIn) {
  const PackedEvent event = note(kAlice, kTime);
  const PackedEvent request = deletion(kAlice, {{"e", id_of(event)}});
  EXPECT_EQ(put(deletion(kAlice, {{"e", id_of(request)}}, kTime + 200)), Verdict::kAccept);
  EXPECT_EQ(put(event), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(request), Verdict::kAccept);
  EXPECT_FALSE(is_served(event));
}

TEST_P(StoreRules, DeletingTheNewestVersionUncoversNoOlderOne) {
  const PackedEvent older = profile(kAlice, kTime);
  const PackedEvent newest = profile(kAlice, kTime + 1);
  EXPECT_EQ(put(older), Verdict::kAccept);
  EXPECT_EQ(put(newest), Verdict::kAccept);
  EXPECT_EQ(put(deletion(kAlice, {{"e", id_of(newest)}})), Verdict::kAccept);
  let_time_tell();
  EXPECT_FALSE(is_served(older));
  EXPECT_FALSE(is_served(newest));
  EXPECT_EQ(put(older), Verdict::kStale);
  EXPECT_EQ(put(newest), Verdict::kDeleted);
  EXPECT_EQ(put(profile(kAlice, kTime + 2)), Verdict::kAccept);
}

TEST_P(StoreRules, TombstoneOutlivesTheExpirationOfItsRequest) {
  const PackedEvent event = note(kAlice, kTime);
  const auto soon = std::to_string(harness_.clock.unix_s() + 2);
  const PackedEvent request = deletion(kAlice, {{"e", id_of(event)}, {"expiration", soon}});
  EXPECT_EQ(put(event), Verdict::kAccept);
  EXPECT_EQ(put(request), Verdict::kAccept);
  harness_.clock.advance_s(3);
  while (store().sweep_expired(16)) {
  }
  let_time_tell();
  EXPECT_FALSE(is_served(request));
  EXPECT_EQ(put(event), Verdict::kDeleted);
}

// NIP-59: gift wraps.

TEST_P(StoreRules, RecipientMayDeleteAGiftWrap) {
  const PackedEvent for_alice = wrap(kAlice, kTime);
  const PackedEvent for_bob = wrap(kBob, kTime + 1);
  const PackedEvent later = wrap(kAlice, kTime + 2);
  EXPECT_EQ(put(for_alice), Verdict::kAccept);
  EXPECT_EQ(put(for_bob), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(
      put(deletion(kAlice, {{"e", id_of(for_alice)}, {"e", id_of(for_bob)}, {"e", id_of(later)}})),
      Verdict::kAccept);
  let_time_tell();
  EXPECT_FALSE(is_served(for_alice));
  EXPECT_TRUE(is_served(for_bob));
  EXPECT_EQ(put(for_alice), Verdict::kDeleted);
  EXPECT_EQ(put(later), Verdict::kDeleted);
}

TEST_P(StoreRules, OnlyWrapsAreTheRecipientsToDelete) {
  const PackedEvent message = pack_unsigned_event({.key_index = kThrowAway,
                                                   .created_at = kTime,
                                                   .kind = 4,
                                                   .tags = {{"p", pubkey_hex(kAlice)}}});
  EXPECT_EQ(put(message), Verdict::kAccept);
  EXPECT_EQ(put(deletion(kAlice, {{"e", id_of(message)}})), Verdict::kAccept);
  let_time_tell();
  EXPECT_TRUE(is_served(message));
}

TEST_P(StoreRules, ForeignDeletionReachesTheRecipientsWrapsOnly) {
  const PackedEvent for_alice = wrap(kAlice, kTime);
  const PackedEvent for_bob = wrap(kBob, kTime + 1);
  const PackedEvent later = wrap(kAlice, kTime + 2);
  EXPECT_EQ(put(for_alice), Verdict::kAccept);
  EXPECT_EQ(put(for_bob), Verdict::kAccept);
  const PackedEvent request =
      deletion(kAlice, {{"e", id_of(for_alice)}, {"e", id_of(for_bob)}, {"e", id_of(later)}});
  EXPECT_TRUE(Store::has_foreign_effects(view_of(request)));
  let_time_tell();
  const std::uint64_t alive = store().statistics().events_alive;
  EXPECT_EQ(apply_foreign(request), Verdict::kAccept);
  EXPECT_EQ(store().statistics().events_alive, alive - 1);
  let_time_tell();
  EXPECT_FALSE(is_served(for_alice));
  EXPECT_TRUE(is_served(for_bob));
  EXPECT_FALSE(is_served(request));
  EXPECT_EQ(put(later), Verdict::kDeleted);
  EXPECT_EQ(put(for_alice), Verdict::kDeleted);
}

TEST_P(StoreRules, ForeignRequestThatIsKnownWritesNothing) {
  const PackedEvent request = deletion(kAlice, {{"e", id_of(wrap(kAlice, kTime))}});
  const PackedEvent farewell = vanish(kBob, kTime);
  EXPECT_EQ(apply_foreign(request), Verdict::kAccept);
  EXPECT_EQ(apply_foreign(farewell), Verdict::kAccept);
  let_time_tell();
  const LogPosition end = store().appended();
  EXPECT_EQ(apply_foreign(request), Verdict::kAccept);
  EXPECT_EQ(apply_foreign(farewell), Verdict::kAccept);
  EXPECT_EQ(apply_foreign(vanish(kBob, kTime - 1)), Verdict::kAccept);
  EXPECT_EQ(store().appended(), end);
  EXPECT_EQ(apply_foreign(vanish(kBob, kTime + 1)), Verdict::kAccept);
  EXPECT_GT(store().appended(), end);
}

TEST_P(StoreRules, ForeignVanishReachesWrapsUpToItsTime) {
  EXPECT_EQ(put(wrap(kAlice, kTime)), Verdict::kAccept);
  EXPECT_EQ(put(wrap(kAlice, kTime + 20)), Verdict::kAccept);
  EXPECT_EQ(put(wrap(kBob, kTime)), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(apply_foreign(vanish(kAlice, kTime + 10)), Verdict::kAccept);
  let_time_tell();
  EXPECT_FALSE(is_served(wrap(kAlice, kTime)));
  EXPECT_TRUE(is_served(wrap(kAlice, kTime + 20)));
  EXPECT_TRUE(is_served(wrap(kBob, kTime)));
  EXPECT_EQ(put(wrap(kAlice, kTime + 10)), Verdict::kVanished);
  EXPECT_EQ(put(wrap(kAlice, kTime + 11)), Verdict::kAccept);
}

// NIP-40: expiration.

TEST_P(StoreRules, ExpiredEventIsRefusedAndAStoredOneIsNotServedAnyMore) {
  const std::int64_t now_s = harness_.clock.unix_s();
  const auto expiring = [&](std::int64_t at) {
    return pack_unsigned_event(
        {.key_index = kAlice, .created_at = kTime, .tags = {{"expiration", std::to_string(at)}}});
  };
  EXPECT_EQ(put(expiring(now_s)), Verdict::kExpired);
  EXPECT_EQ(put(expiring(now_s - 1)), Verdict::kExpired);
  const PackedEvent soon = expiring(now_s + 3);
  const PackedEvent later = expiring(now_s + 604'800);
  EXPECT_EQ(put(soon), Verdict::kAccept);
  EXPECT_EQ(put(later), Verdict::kAccept);
  let_time_tell();
  EXPECT_TRUE(is_served(soon));
  harness_.clock.advance_s(3);
  EXPECT_FALSE(is_served(soon));
  EXPECT_TRUE(is_served(later));
  EXPECT_EQ(put(soon), Verdict::kExpired);
}

TEST_P(StoreRules, SweepTakesWhatIsDueAndNothingElse) {
  const std::int64_t now_s = harness_.clock.unix_s();
  std::vector<PackedEvent> events;
  for (int i = 1; i <= 20; ++i) {
    events.push_back(pack_unsigned_event({.key_index = kAlice,
                                          .created_at = kTime,
                                          .tags = {{"expiration", std::to_string(now_s + i)}}}));
    EXPECT_EQ(put(events.back()), Verdict::kAccept);
  }
  EXPECT_EQ(put(note(kAlice, kTime)), Verdict::kAccept);
  let_time_tell();
  const std::uint64_t alive = store().statistics().events_alive;
  EXPECT_FALSE(store().sweep_expired(100));
  EXPECT_EQ(store().statistics().events_alive, alive);
  harness_.clock.advance_s(15);
  int slices = 1;
  while (store().sweep_expired(4)) ++slices;
  EXPECT_GE(slices, 4);
  EXPECT_LE(slices, 5);
  EXPECT_EQ(store().statistics().events_alive, alive - 15);
  let_time_tell();
  EXPECT_FALSE(store().sweep_expired(100));
  for (std::size_t i = 0; i < events.size(); ++i) EXPECT_EQ(is_served(events[i]), i >= 15) << i;
  EXPECT_TRUE(is_served(note(kAlice, kTime)));
}

TEST_P(StoreRules, ExpiredNewestVersionUncoversNoOlderOne) {
  const PackedEvent older = profile(kAlice, kTime);
  const PackedEvent newest =
      pack_unsigned_event({.key_index = kAlice,
                           .created_at = kTime + 1,
                           .kind = 0,
                           .tags = {{"expiration", std::to_string(harness_.clock.unix_s() + 2)}}});
  EXPECT_EQ(put(older), Verdict::kAccept);
  EXPECT_EQ(put(newest), Verdict::kAccept);
  let_time_tell();
  harness_.clock.advance_s(2);
  EXPECT_FALSE(is_served(older));
  EXPECT_FALSE(is_served(newest));
  EXPECT_EQ(put(older), Verdict::kStale);
  (void)store().sweep_expired(16);
  let_time_tell();
  EXPECT_EQ(put(older), Verdict::kStale);
  EXPECT_EQ(put(newest), Verdict::kExpired);
}

// NIP-62: requests to vanish.

TEST_P(StoreRules, VanishRemovesAllUpToItsTimeForGood) {
  const PackedEvent event = note(kAlice, kTime);
  const PackedEvent at_its_time = note(kAlice, kTime + 10);
  const PackedEvent newer = note(kAlice, kTime + 11);
  const PackedEvent request = deletion(kAlice, {{"e", id_of(note(kBob, kTime))}}, kTime);
  const PackedEvent bobs = note(kBob, kTime);
  for (const PackedEvent& each :
       {event, at_its_time, newer, request, bobs, wrap(kAlice, kTime), wrap(kAlice, kTime + 11)}) {
    EXPECT_EQ(put(each), Verdict::kAccept);
  }
  let_time_tell();
  const PackedEvent farewell = vanish(kAlice, kTime + 10);
  EXPECT_TRUE(Store::has_foreign_effects(view_of(farewell)));
  EXPECT_EQ(put(farewell), Verdict::kAccept);
  let_time_tell();
  for (const PackedEvent& gone : {event, at_its_time, request, wrap(kAlice, kTime)}) {
    EXPECT_FALSE(is_served(gone));
    EXPECT_EQ(put(gone), Verdict::kVanished);
  }
  for (const PackedEvent& kept : {newer, bobs, wrap(kAlice, kTime + 11), farewell}) {
    EXPECT_TRUE(is_served(kept));
  }
  EXPECT_EQ(put(note(kAlice, kTime + 3)), Verdict::kVanished);
  EXPECT_EQ(put(note(kAlice, kTime + 12)), Verdict::kAccept);
  EXPECT_EQ(put(wrap(kAlice, kTime + 1)), Verdict::kVanished);
  EXPECT_EQ(put(farewell), Verdict::kDuplicate);
}

TEST_P(StoreRules, VanishStandsWhateverADeletionSays) {
  const PackedEvent farewell = vanish(kAlice, kTime);
  EXPECT_EQ(put(farewell), Verdict::kAccept);
  EXPECT_EQ(put(deletion(kAlice, {{"e", id_of(farewell)}})), Verdict::kAccept);
  let_time_tell();
  EXPECT_TRUE(is_served(farewell));
  EXPECT_EQ(put(note(kAlice, kTime)), Verdict::kVanished);
}

TEST_P(StoreRules, NewestVanishDecidesAndIsTheOneServed) {
  EXPECT_EQ(put(vanish(kAlice, kTime)), Verdict::kAccept);
  let_time_tell();
  EXPECT_EQ(put(vanish(kAlice, kTime + 10)), Verdict::kAccept);
  EXPECT_EQ(put(vanish(kAlice, kTime + 5)), Verdict::kVanished);
  let_time_tell();
  EXPECT_FALSE(is_served(vanish(kAlice, kTime)));
  EXPECT_TRUE(is_served(vanish(kAlice, kTime + 10)));
  EXPECT_EQ(put(note(kAlice, kTime + 10)), Verdict::kVanished);
  EXPECT_EQ(put(note(kAlice, kTime + 11)), Verdict::kAccept);
}

TEST_P(StoreRules, VanishAndDeletionOfOneAuthorLeaveTheOthersAlone) {
  const PackedEvent carols = note(kCarol, kTime);
  EXPECT_EQ(put(carols), Verdict::kAccept);
  EXPECT_EQ(put(vanish(kAlice, kTime + 10)), Verdict::kAccept);
  EXPECT_EQ(put(deletion(kBob, {{"e", id_of(carols)}})), Verdict::kAccept);
  let_time_tell();
  EXPECT_TRUE(is_served(carols));
  EXPECT_EQ(put(note(kBob, kTime)), Verdict::kAccept);
}

}  // namespace
}  // namespace gyre::storage

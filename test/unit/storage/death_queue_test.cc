#include "storage/death_queue.h"

#include <gtest/gtest.h>

#include "unit/storage/store_harness.h"

namespace gyre::storage {
namespace {

using test::pack_unsigned_event;

constexpr std::uint64_t kTime = 1'600'000'000;

// A death takes away exactly what a birth has posted, but for what must be remembered.
class DeathQueueTest : public testing::Test {
 protected:
  DeathQueueTest() { EXPECT_TRUE(harness_.open().ok()); }
  std::uint64_t postings() const { return harness_.store->statistics().postings; }
  std::uint64_t dead_postings() const { return harness_.store->statistics().dead_postings; }
  Verdict put(const test::EventDraft& draft) {
    return harness_.store->put(view_of(pack_unsigned_event(draft))).verdict;
  }

  StoreHarness harness_;
};

TEST_F(DeathQueueTest, ASupersededVersionLeavesNothing) {
  test::EventDraft draft = {
      .key_index = 1, .created_at = kTime, .kind = 30'078, .tags = {{"d", "x"}, {"t", "y"}}};
  ASSERT_EQ(put(draft), Verdict::kAccept);
  const std::uint64_t of_one = postings();
  ++draft.created_at;
  ASSERT_EQ(put(draft), Verdict::kAccept);
  EXPECT_EQ(dead_postings(), of_one);
}

TEST_F(DeathQueueTest, ADeletedVersionLeavesItsAddress) {
  const test::EventDraft draft = {.key_index = 1, .created_at = kTime, .kind = 0};
  ASSERT_EQ(put(draft), Verdict::kAccept);
  const std::uint64_t of_one = postings();
  const PackedEvent event = pack_unsigned_event(draft);
  ASSERT_EQ(put({.key_index = 1, .created_at = kTime, .kind = 5, .tags = {{"e", id_of(event)}}}),
            Verdict::kAccept);
  EXPECT_EQ(dead_postings(), of_one - 1);
  EXPECT_EQ(put({.key_index = 1, .created_at = kTime - 1, .kind = 0}), Verdict::kStale);
}

TEST_F(DeathQueueTest, AnExpiredEventTakesItsExpiryWithIt) {
  ASSERT_EQ(put({.key_index = 1,
                 .created_at = kTime,
                 .tags = {{"expiration", std::to_string(harness_.clock.unix_s() + 1)}}}),
            Verdict::kAccept);
  harness_.clock.advance_s(1);
  EXPECT_FALSE(harness_.store->sweep_expired(1));
  EXPECT_EQ(dead_postings(), postings());
}

TEST_F(DeathQueueTest, ADeadDeletionLeavesItsTombstones) {
  const test::EventDraft deletion = {
      .key_index = 1,
      .created_at = kTime,
      .kind = 5,
      .tags = {{"e", std::string(64, 'a')},
               {"expiration", std::to_string(harness_.clock.unix_s() + 1)}}};
  ASSERT_EQ(put(deletion), Verdict::kAccept);
  harness_.clock.advance_s(1);
  EXPECT_FALSE(harness_.store->sweep_expired(1));
  EXPECT_EQ(dead_postings(), postings() - 1);
}

}  // namespace
}  // namespace gyre::storage

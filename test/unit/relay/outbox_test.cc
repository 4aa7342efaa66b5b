#include "relay/outbox.h"

#include <vector>

#include <gtest/gtest.h>

namespace gyre::relay {
namespace {

class IdleIo final : public runtime::Io {
 public:
  void submit_accept(int, runtime::Completion&) override {}
  void submit_recv(int, runtime::Completion&) override {}
  void submit_send(int, std::span<const iovec>, runtime::Completion&) override {}
  void submit_read(int, std::uint64_t, std::span<std::uint8_t>, runtime::Completion&) override {}
  void cancel(runtime::Completion&) override {}
  void shutdown(int) override {}
  void close(int) override {}
  runtime::Address peer_address(int) override { return {}; }
  void wake(ShardId) override {}
  runtime::Waker& waker() override { std::abort(); }
  void reap() override {}
  bool run(std::size_t) override { return false; }
  void enter(Wait, std::uint64_t) override {}
};

class OutboxTest : public testing::Test {
 protected:
  static constexpr std::size_t kSlots = 4;

  void send(ShardId to, QueryId query) {
    More more;
    more.query = query;
    outbox_.send(to, more);
  }
  // What has arrived at the shard, in order.
  std::vector<QueryId> take(ShardId shard, std::size_t at_most = 1000) {
    sender_.flush(io_);
    runtime::MeshPort receiver(mesh_, shard);
    std::vector<QueryId> taken;
    ShardId from = 0;
    runtime::MeshSlot slot;
    while (taken.size() < at_most && receiver.try_take_request(from, slot)) {
      taken.push_back(from_slot<More>(slot).query);
    }
    return taken;
  }

  IdleIo io_;
  runtime::Mesh mesh_{3, kSlots, kSlots};
  runtime::MeshPort sender_{mesh_, 0};
  Outbox outbox_{sender_};
};

TEST_F(OutboxTest, SendsAtOnceWhileThereIsRoom) {
  for (QueryId query = 0; query < kSlots; ++query) send(1, query);
  EXPECT_TRUE(outbox_.is_empty());
  EXPECT_EQ(take(1), (std::vector<QueryId>{0, 1, 2, 3}));
}

TEST_F(OutboxTest, WhatFindsNoRoomWaitsAndKeepsItsOrder) {
  for (QueryId query = 0; query < 10; ++query) send(1, query);
  EXPECT_FALSE(outbox_.is_empty());
  EXPECT_FALSE(outbox_.flush());
  std::vector<QueryId> all = take(1, 2);
  // There is room now, but not for a message that overtakes those that wait.
  send(1, 10);
  while (!outbox_.flush()) {
    for (const QueryId query : take(1)) all.push_back(query);
  }
  for (const QueryId query : take(1)) all.push_back(query);
  EXPECT_EQ(all, (std::vector<QueryId>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
  EXPECT_TRUE(outbox_.is_empty());
}

TEST_F(OutboxTest, OneFullDestinationDoesNotHoldUpAnother) {
  for (QueryId query = 0; query < 2 * kSlots; ++query) send(1, query);
  send(2, 100);
  send(0, 200);
  EXPECT_EQ(take(2), std::vector<QueryId>{100});
  EXPECT_EQ(take(0), std::vector<QueryId>{200});
  for (QueryId query = 0; query < 2 * kSlots; ++query) send(2, query);
  (void)take(2);
  EXPECT_FALSE(outbox_.flush());
  EXPECT_EQ(take(2), (std::vector<QueryId>{4, 5, 6, 7}));
}

}  // namespace
}  // namespace gyre::relay

#include "relay/interest.h"

#include <gtest/gtest.h>

namespace gyre::relay {
namespace {

TEST(Interest, NobodyIsInterestedAtFirst) {
  const Interest interest(3);
  for (ShardId shard = 0; shard < 3; ++shard) EXPECT_FALSE(interest.has_subscriptions(shard));
}

TEST(Interest, EachShardSpeaksForItself) {
  Interest interest(3);
  interest.set(1, true);
  EXPECT_FALSE(interest.has_subscriptions(0));
  EXPECT_TRUE(interest.has_subscriptions(1));
  EXPECT_FALSE(interest.has_subscriptions(2));
  interest.set(2, true);
  interest.set(1, false);
  EXPECT_FALSE(interest.has_subscriptions(1));
  EXPECT_TRUE(interest.has_subscriptions(2));
}

}  // namespace
}  // namespace gyre::relay

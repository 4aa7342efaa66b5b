#include "gyre/net/admission_table.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace gyre::net {
namespace {

using runtime::IpAddress;
using Verdict = AdmissionTable::Verdict;

IpAddress ip(std::string_view text) { return *IpAddress::parse(text); }

TEST(AdmissionTable, LimitsTheTotal) {
  AdmissionTable table;
  EXPECT_EQ(table.try_admit(ip("192.0.2.1"), 2, 0), Verdict::kAdmitted);
  EXPECT_EQ(table.try_admit_pending(2), Verdict::kAdmitted);
  EXPECT_EQ(table.try_admit(ip("192.0.2.2"), 2, 0), Verdict::kTooMany);
  EXPECT_EQ(table.try_admit_pending(2), Verdict::kTooMany);
  table.release_pending();
  EXPECT_EQ(table.try_admit(ip("192.0.2.2"), 2, 0), Verdict::kAdmitted);
  EXPECT_EQ(table.open_count(), 2u);
}

TEST(AdmissionTable, LimitsEachAddress) {
  AdmissionTable table;
  EXPECT_EQ(table.try_admit(ip("192.0.2.1"), 10, 1), Verdict::kAdmitted);
  EXPECT_EQ(table.try_admit(ip("192.0.2.1"), 10, 1), Verdict::kTooManyFromAddress);
  EXPECT_EQ(table.try_admit(ip("192.0.2.2"), 10, 1), Verdict::kAdmitted);
  EXPECT_EQ(table.open_count(), 2u);
  table.release(ip("192.0.2.1"));
  EXPECT_EQ(table.try_admit(ip("192.0.2.1"), 10, 1), Verdict::kAdmitted);
}

TEST(AdmissionTable, CountsIpv6ByItsSubscriber) {
  AdmissionTable table;
  EXPECT_EQ(table.try_admit(ip("2001:db8:1:2::1"), 10, 1), Verdict::kAdmitted);
  EXPECT_EQ(table.try_admit(ip("2001:db8:1:2:ffff::9"), 10, 1), Verdict::kTooManyFromAddress);
  EXPECT_EQ(table.try_admit(ip("2001:db8:1:3::1"), 10, 1), Verdict::kAdmitted);
  table.release(ip("2001:db8:1:2::1"));
  EXPECT_EQ(table.try_admit(ip("2001:db8:1:2::2"), 10, 1), Verdict::kAdmitted);
}

TEST(AdmissionTable, AssignsPendingConnections) {
  AdmissionTable table;
  EXPECT_EQ(table.try_admit_pending(10), Verdict::kAdmitted);
  EXPECT_EQ(table.try_admit_pending(10), Verdict::kAdmitted);
  EXPECT_EQ(table.try_assign(ip("192.0.2.1"), 1), Verdict::kAdmitted);
  EXPECT_EQ(table.try_assign(ip("192.0.2.1"), 1), Verdict::kTooManyFromAddress);
  EXPECT_EQ(table.open_count(), 2u);
  table.release_pending();
  table.release(ip("192.0.2.1"));
  EXPECT_EQ(table.open_count(), 0u);
}

TEST(AdmissionTable, ServesAllShardsAtOnce) {
  AdmissionTable table;
  std::vector<std::thread> shards;
  for (int shard = 0; shard < 4; ++shard) {
    shards.emplace_back([&table] {
      for (int round = 0; round < 2000; ++round) {
        const auto verdict = table.try_admit(ip("192.0.2.1"), 3, 2);
        if (verdict == Verdict::kAdmitted) table.release(ip("192.0.2.1"));
      }
    });
  }
  for (std::thread& shard : shards) shard.join();
  EXPECT_EQ(table.open_count(), 0u);
}

}  // namespace
}  // namespace gyre::net

#include "storage/shard_manifest.h"

#include <gtest/gtest.h>

#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

using Operation = test::SimFileSystem::Operation;
using Fault = test::SimFileSystem::Fault;

constexpr ShardIdentity kIdentity = {7, 1};

class ShardManifestTest : public testing::Test {
 protected:
  ShardManifestTest() {
    EXPECT_TRUE(files_.create_directories("shard").ok());
    EXPECT_TRUE(manifest_.load().ok());
  }
  void make_file(const std::string& name) { files_.overwrite("shard/" + name, {1}); }
  bool exists(const std::string& name) { return files_.exists("shard/" + name); }
  // Publishes a manifest of these runs; whether that worked.
  bool publish(std::vector<std::string> runs) {
    ShardManifest::Draft draft = manifest_.draft();
    draft.manifest.runs = std::move(runs);
    if (!manifest_.publish(draft).ok()) {
      may_be_durable_ = draft.may_be_durable();
      return false;
    }
    manifest_.install(draft);
    return true;
  }

  test::SimFileSystem files_;
  ShardManifest manifest_{files_, "shard", kIdentity};
  bool may_be_durable_ = false;
};

TEST_F(ShardManifestTest, NeverGivesANameTwice) {
  EXPECT_EQ(manifest_.next_run_name(), "run-00000001");
  EXPECT_EQ(manifest_.next_run_name(), "run-00000002");
  ASSERT_TRUE(publish({}));
  ShardManifest again(files_, "shard", kIdentity);
  ASSERT_TRUE(again.load().ok());
  EXPECT_EQ(again.next_run_name(), "run-00000003");
}

TEST_F(ShardManifestTest, LoadingRemovesRunsThatAreNotNamedAndNothingElse) {
  for (const char* name : {"run-1", "run-2", "other"}) make_file(name);
  ASSERT_TRUE(publish({"run-1"}));
  ShardManifest again(files_, "shard", kIdentity);
  ASSERT_TRUE(again.load().ok());
  EXPECT_TRUE(exists("run-1"));
  EXPECT_FALSE(exists("run-2"));
  EXPECT_TRUE(exists("other"));
}

TEST_F(ShardManifestTest, LoadingRemovesNothingBeforeTheManifestIsDurable) {
  for (const char* name : {"run-1", "run-2"}) make_file(name);
  ASSERT_TRUE(publish({"run-1"}));
  // The process is killed between the renaming and the sync of the folder.
  files_.fail(Operation::kSyncDirectory, 0, Fault::kIoError);
  EXPECT_FALSE(publish({"run-2"}));
  files_.kill_process();
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    files_.power_off_after(seed % 4);
    ShardManifest again(files_, "shard", kIdentity);
    (void)again.load();
    SeededRandom random(seed);
    files_.crash(random);
    ShardManifest recovered(files_, "shard", kIdentity);
    ASSERT_TRUE(recovered.load().ok());
    ASSERT_EQ(recovered.durable().runs.size(), 1u);
    EXPECT_TRUE(exists(recovered.durable().runs.front())) << seed;
  }
}

TEST_F(ShardManifestTest, FailingToStageLeavesTheOldOneForSure) {
  ASSERT_TRUE(publish({"run-1"}));
  files_.fail(Operation::kWrite, 0, Fault::kNoSpace);
  EXPECT_FALSE(publish({"run-2"}));
  EXPECT_FALSE(may_be_durable_);
  EXPECT_EQ(manifest_.durable().runs.front(), "run-1");
}

TEST_F(ShardManifestTest, WhatAManifestMayNameGoesWithTheNextOneOnly) {
  make_file("run-1");
  files_.fail(Operation::kSyncDirectory, 0, Fault::kIoError);
  EXPECT_FALSE(publish({"run-1"}));
  EXPECT_TRUE(may_be_durable_);
  manifest_.discard("run-1");
  EXPECT_TRUE(exists("run-1"));
  files_.fail(Operation::kRename, 0, Fault::kIoError);
  EXPECT_FALSE(publish({}));
  EXPECT_TRUE(exists("run-1"));
  EXPECT_TRUE(publish({}));
  EXPECT_FALSE(exists("run-1"));
}

TEST_F(ShardManifestTest, ForgottenOneIsGoneForGood) {
  make_file("run-1");
  ASSERT_TRUE(publish({"run-1"}));
  ASSERT_TRUE(manifest_.forget().ok());
  EXPECT_TRUE(manifest_.durable().runs.empty());
  EXPECT_FALSE(exists("run-1"));
  SeededRandom random(1);
  files_.crash(random);
  EXPECT_FALSE(exists("manifest"));
}

}  // namespace
}  // namespace gyre::storage

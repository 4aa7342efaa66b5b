#include "gyre/storage/data_directory.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

using test::SimFileSystem;
using testing::HasSubstr;

class DataDirectoryTest : public testing::Test {
 protected:
  absl::StatusOr<std::unique_ptr<DataDirectory>> open(std::string_view path = "/var/lib/gyre",
                                                      std::uint32_t shard_count = 2) {
    return DataDirectory::open(files_, path, shard_count, random_);
  }
  std::string refusal(std::string_view path = "/var/lib/gyre", std::uint32_t shard_count = 2) {
    const auto directory = open(path, shard_count);
    EXPECT_FALSE(directory.ok());
    return std::string(directory.status().message());
  }
  void write(std::string_view path, std::string_view content) {
    ASSERT_TRUE(write_file_atomically(files_, path, content).ok());
  }

  SimFileSystem files_;
  SeededRandom random_{7};
};

TEST_F(DataDirectoryTest, AMissingFolderBecomesAStoreWithItsParents) {
  const auto directory = open();
  ASSERT_TRUE(directory.ok()) << directory.status().ToString();
  EXPECT_EQ((*directory)->shard_count(), 2u);
  EXPECT_EQ((*directory)->shard_path(1), "/var/lib/gyre/shard-001");
  EXPECT_TRUE(files_.exists("/var/lib/gyre/shard-000"));
  EXPECT_TRUE(files_.exists("/var/lib/gyre/shard-001"));
}

TEST_F(DataDirectoryTest, AnExistingStoreKeepsItsCountAndKey) {
  const auto key = (*open())->key();
  const auto again = open("/var/lib/gyre/", 8);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ((*again)->shard_count(), 2u);
  EXPECT_EQ((*again)->key(), key);
}

TEST_F(DataDirectoryTest, EveryStoreHasAKeyOfItsOwn) {
  const auto one = open("/one");
  const auto two = open("/two");
  EXPECT_NE((*one)->key(), (*two)->key());
}

TEST_F(DataDirectoryTest, ARunningStoreIsRefused) {
  const auto running = open();
  ASSERT_TRUE(running.ok());
  const auto second = open();
  EXPECT_TRUE(absl::IsUnavailable(second.status()));
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("another gyre"));
}

TEST_F(DataDirectoryTest, AFolderWithSomethingElseIsRefusedAndLeftAlone) {
  ASSERT_TRUE(files_.create_directories("/letters").ok());
  write("/letters/letters.txt", "dear");
  const auto before = files_.contents();
  EXPECT_THAT(refusal("/letters"), HasSubstr("letters.txt"));
  EXPECT_EQ(files_.contents(), before);
}

TEST_F(DataDirectoryTest, AShardFolderWithContentButNoStoreFileIsRefused) {
  ASSERT_TRUE(files_.create_directories("/data/shard-000").ok());
  write("/data/shard-000/log-00000001.seg", "events");
  EXPECT_THAT(refusal("/data"), HasSubstr("shard-000"));
}

TEST_F(DataDirectoryTest, TheRootOfAFreshFileSystemIsEmptyEnough) {
  ASSERT_TRUE(files_.create_directories("/mnt/lost+found").ok());
  EXPECT_TRUE(open("/mnt").ok());
}

TEST_F(DataDirectoryTest, AFileIsNoFolder) {
  ASSERT_TRUE(files_.create_directories("/data").ok());
  write("/data/file", "x");
  EXPECT_THAT(refusal("/data/file"), HasSubstr("must be a folder"));
  EXPECT_THAT(refusal("/data/file/below"), HasSubstr("must be a folder"));
}

TEST_F(DataDirectoryTest, WithoutTheRightToWriteItSaysWhoNeedsIt) {
  ASSERT_TRUE(files_.create_directories("/data").ok());
  files_.fail(SimFileSystem::Operation::kLock, 0, SimFileSystem::Fault::kPermissionDenied);
  EXPECT_THAT(refusal("/data"), testing::AllOf(HasSubstr("uid"), HasSubstr("/data")));
  files_.fail(SimFileSystem::Operation::kCreateDirectories, 0,
              SimFileSystem::Fault::kPermissionDenied);
  EXPECT_THAT(refusal("/other"), testing::AllOf(HasSubstr("uid"), HasSubstr("/other")));
}

TEST_F(DataDirectoryTest, AStoreOfALaterFormatIsRefusedByName) {
  ASSERT_TRUE(open().ok());
  auto content = files_.contents()["/var/lib/gyre/gyre-store"];
  content[8] = 2;
  files_.overwrite("/var/lib/gyre/gyre-store", content);
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("format 2"), HasSubstr("newer gyre")));
}

TEST_F(DataDirectoryTest, EveryFlippedByteOfTheStoreFileIsNoticed) {
  ASSERT_TRUE(open().ok());
  const auto good = files_.contents()["/var/lib/gyre/gyre-store"];
  ASSERT_EQ(good.size(), 64u);
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= 0x10;
    files_.overwrite("/var/lib/gyre/gyre-store", bad);
    EXPECT_FALSE(open().ok()) << i;
  }
  for (std::size_t size = 0; size < good.size(); ++size) {
    files_.overwrite("/var/lib/gyre/gyre-store",
                     {good.begin(), good.begin() + static_cast<int>(size)});
    EXPECT_TRUE(absl::IsDataLoss(open().status())) << size;
  }
}

TEST_F(DataDirectoryTest, AMissingShardIsNotReplacedByAnEmptyOne) {
  ASSERT_TRUE(open("/small", 1).ok());
  ASSERT_TRUE(files_.create_directories("/big").ok());
  ASSERT_TRUE(open("/other", 2).ok());
  files_.overwrite("/big/gyre-store", files_.contents()["/other/gyre-store"]);
  const auto directory = open("/big");
  EXPECT_TRUE(absl::IsDataLoss(directory.status()));
  EXPECT_THAT(std::string(directory.status().message()), HasSubstr("/big/shard-000 is missing"));
}

TEST_F(DataDirectoryTest, TheShardCountHasBounds) {
  EXPECT_TRUE(absl::IsInvalidArgument(open("/a", 0).status()));
  EXPECT_TRUE(absl::IsInvalidArgument(open("/a", kShardsMax + 1).status()));
  EXPECT_TRUE(open("/a", kShardsMax).ok());
}

TEST(DataDirectory, AFirstStartCutAtAnyOperationIsMadeUpForByTheNext) {
  for (std::uint64_t count = 0; count < 20; ++count) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      SimFileSystem files;
      SeededRandom random(count * 100 + seed);
      files.power_off_after(count);
      auto first = DataDirectory::open(files, "/srv/gyre", 3, random);
      const bool was_made = first.ok();
      const auto key = was_made ? (*first)->key() : std::array<std::uint8_t, 16>{};
      first = absl::CancelledError();
      files.crash(random);
      const auto second = DataDirectory::open(files, "/srv/gyre", 5, random);
      ASSERT_TRUE(second.ok()) << count << " " << second.status().ToString();
      if (!was_made) continue;
      EXPECT_EQ((*second)->shard_count(), 3u);
      EXPECT_EQ((*second)->key(), key);
    }
  }
}

}  // namespace
}  // namespace gyre::storage

#include "gyre/storage/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/corruption.h"
#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

using testing::HasSubstr;

constexpr ShardIdentity kIdentity = {0x1234'5678'9abc'def0, 3};

Manifest example() {
  Manifest manifest;
  manifest.identity = kIdentity;
  manifest.log_position = LogPosition::at(3, 4711);
  manifest.log_record_number = 0x1234567890;
  manifest.events_alive = 99;
  manifest.directory_rows = 100;
  manifest.runs = {"run-00000001", "run-00000004", std::string(255, 'x')};
  manifest.dead_runs = {"dead-00000002"};
  manifest.next_run_number = 5;
  return manifest;
}

class ManifestTest : public testing::Test {
 protected:
  ManifestTest() { EXPECT_TRUE(files_.create_directories("/shard").ok()); }

  std::vector<std::uint8_t> written(const Manifest& manifest) {
    EXPECT_TRUE(write_manifest(files_, kPath, manifest).ok());
    return files_.contents()[kPath];
  }
  absl::Status status_of(std::vector<std::uint8_t> content) {
    files_.overwrite(kPath, std::move(content));
    return read_manifest(files_, kPath, kIdentity).status();
  }

  static constexpr const char* kPath = "/shard/manifest";
  test::SimFileSystem files_;
};

TEST_F(ManifestTest, ReadsWhatWasWritten) {
  written(example());
  const auto manifest = read_manifest(files_, kPath, kIdentity);
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(manifest->log_position, example().log_position);
  EXPECT_EQ(manifest->log_record_number, example().log_record_number);
  EXPECT_EQ(manifest->events_alive, example().events_alive);
  EXPECT_EQ(manifest->directory_rows, example().directory_rows);
  EXPECT_EQ(manifest->runs, example().runs);
  EXPECT_EQ(manifest->dead_runs, example().dead_runs);
  EXPECT_EQ(manifest->next_run_number, example().next_run_number);
}

TEST_F(ManifestTest, ANewOneReplacesTheOld) {
  written(example());
  Manifest without_runs = example();
  without_runs.runs.clear();
  written(without_runs);
  EXPECT_TRUE(read_manifest(files_, kPath, kIdentity)->runs.empty());
}

TEST_F(ManifestTest, AbsenceIsNotDamage) {
  EXPECT_TRUE(absl::IsNotFound(read_manifest(files_, kPath, kIdentity).status()));
}

TEST_F(ManifestTest, EveryFlippedByteIsNoticed) {
  const auto good = written(example());
  for (std::size_t i = 0; i < good.size(); ++i) {
    auto bad = good;
    bad[i] ^= 0x40;
    EXPECT_TRUE(absl::IsDataLoss(status_of(bad))) << i;
  }
}

TEST_F(ManifestTest, EveryShorterAndEveryLongerFileIsNoticed) {
  const auto good = written(example());
  for (std::size_t size = 0; size < good.size(); ++size) {
    EXPECT_TRUE(absl::IsDataLoss(status_of({good.begin(), good.begin() + static_cast<int>(size)})))
        << size;
  }
  auto longer = good;
  longer.push_back(0);
  EXPECT_TRUE(absl::IsDataLoss(status_of(longer)));
}

TEST_F(ManifestTest, ALaterVersionIsNamed) {
  auto later = written(example());
  later[8] = 3;
  const absl::Status status = status_of(later);
  EXPECT_THAT(std::string(status.message()), HasSubstr("format 3"));
  EXPECT_FALSE(is_older_derived_version(status));
}

TEST_F(ManifestTest, AnEarlierVersionIsToldFromAllOtherErrors) {
  auto earlier = written(example());
  earlier[8] = 1;
  EXPECT_TRUE(is_older_derived_version(status_of(earlier)));
  earlier[8] = 0;
  EXPECT_FALSE(is_older_derived_version(status_of(earlier)));
}

TEST_F(ManifestTest, OfAnotherShardOrStoreIsRefused) {
  written(example());
  const ShardIdentity other_shard = {kIdentity.store, 4};
  const absl::Status misplaced = read_manifest(files_, kPath, other_shard).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(misplaced));
  EXPECT_THAT(std::string(misplaced.message()), HasSubstr("belongs to shard 3"));
  EXPECT_THAT(std::string(misplaced.message()), HasSubstr("place of shard 4"));
  const ShardIdentity other_store = {1, kIdentity.shard};
  const absl::Status foreign = read_manifest(files_, kPath, other_store).status();
  EXPECT_TRUE(absl::IsFailedPrecondition(foreign));
  EXPECT_THAT(std::string(foreign.message()), HasSubstr("another store"));
}

TEST(ShardIdentity, DiffersBetweenShardsAndKeys) {
  const std::array<std::uint8_t, 16> key = {1, 2, 3};
  const std::array<std::uint8_t, 16> other_key = {1, 2, 4};
  EXPECT_EQ(shard_identity(key, 1), shard_identity(key, 1));
  EXPECT_NE(shard_identity(key, 1), shard_identity(key, 2));
  EXPECT_NE(shard_identity(key, 1), shard_identity(other_key, 1));
}

TEST_F(ManifestTest, TheMessageSaysWhatToDo) {
  auto bad = written(example());
  bad[20] ^= 1;
  const absl::Status status = status_of(bad);
  EXPECT_THAT(std::string(status.message()), HasSubstr(kPath));
  EXPECT_THAT(std::string(status.message()), HasSubstr("gyre check --repair"));
}

}  // namespace
}  // namespace gyre::storage

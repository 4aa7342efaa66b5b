#include "gyre/storage/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

using testing::HasSubstr;

Manifest example() {
  Manifest manifest;
  manifest.log_position = LogPosition::at(3, 4711);
  manifest.log_record_number = 0x1234567890;
  manifest.events_alive = 99;
  manifest.directory_rows = 100;
  manifest.runs = {"run-00000001", "run-00000004", std::string(255, 'x')};
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
    return read_manifest(files_, kPath).status();
  }

  static constexpr const char* kPath = "/shard/manifest";
  test::SimFileSystem files_;
};

TEST_F(ManifestTest, ReadsWhatWasWritten) {
  written(example());
  const auto manifest = read_manifest(files_, kPath);
  ASSERT_TRUE(manifest.ok()) << manifest.status().ToString();
  EXPECT_EQ(manifest->log_position, example().log_position);
  EXPECT_EQ(manifest->log_record_number, example().log_record_number);
  EXPECT_EQ(manifest->events_alive, example().events_alive);
  EXPECT_EQ(manifest->directory_rows, example().directory_rows);
  EXPECT_EQ(manifest->runs, example().runs);
  EXPECT_EQ(manifest->next_run_number, example().next_run_number);
}

TEST_F(ManifestTest, ANewOneReplacesTheOld) {
  written(example());
  written(Manifest());
  EXPECT_TRUE(read_manifest(files_, kPath)->runs.empty());
}

TEST_F(ManifestTest, AbsenceIsNotDamage) {
  EXPECT_TRUE(absl::IsNotFound(read_manifest(files_, kPath).status()));
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
  later[8] = 2;
  EXPECT_THAT(std::string(status_of(later).message()), HasSubstr("format 2"));
}

TEST_F(ManifestTest, TheMessageSaysWhatToDo) {
  auto bad = written(example());
  bad[20] ^= 1;
  const absl::Status status = status_of(bad);
  EXPECT_THAT(std::string(status.message()), HasSubstr(kPath));
  EXPECT_THAT(std::string(status.message()), HasSubstr("remove this file"));
}

}  // namespace
}  // namespace gyre::storage

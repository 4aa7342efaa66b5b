#include "app/store_backup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "app/store_check.h"
#include "unit/app/import_export_harness.h"

namespace gyre::app {
namespace {

using test::sign_event;
using testing::HasSubstr;

class StoreBackupTest : public ImportExportTest {
 protected:
  StoreBackupTest() { add(0, 40); }

  void add(std::uint32_t begin, std::uint32_t end) {
    std::vector<std::string> events;
    for (std::uint32_t i = begin; i < end; ++i) {
      events.push_back(sign_event({.key_index = i % 7, .created_at = 1'000 + i}));
    }
    (void)import(joined(events));
  }
  absl::StatusOr<BackupReport> back_up() { return run_backup({import_.store_path, copy_}); }
  std::vector<std::string> lines_of(const std::string& store) {
    const std::string original = import_.store_path;
    import_.store_path = store;
    auto lines = export_lines();
    import_.store_path = original;
    return lines;
  }
  // A copy of the backup, as one restores it.
  std::string restored() {
    const std::string path = folder_ + "/restored";
    std::filesystem::remove_all(path);
    std::filesystem::copy(copy_, path, std::filesystem::copy_options::recursive);
    return path;
  }
  void expect_sound(const std::string& store) {
    const auto checked = run_check({store, {}, true});
    ASSERT_TRUE(checked.ok()) << checked.status().ToString();
    EXPECT_EQ(checked->finding_count(), 0u) << check_text(*checked);
  }

  const std::string copy_ = folder_ + "/copy";
};

TEST_F(StoreBackupTest, TheCopyIsAStoreWithTheSameEvents) {
  const auto report = back_up();
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->records, 40u);
  expect_sound(copy_);
  EXPECT_EQ(lines_of(restored()), export_lines());
}

TEST_F(StoreBackupTest, ASecondCallBringsTheCopyUpToDate) {
  ASSERT_TRUE(back_up().ok());
  add(40, 60);
  const auto report = back_up();
  ASSERT_TRUE(report.ok()) << report.status().ToString();
  EXPECT_EQ(report->records, 60u);
  expect_sound(copy_);
  EXPECT_EQ(lines_of(restored()).size(), 60u);
}

TEST_F(StoreBackupTest, AStoreThatIsOpenIsCopied) {
  const auto held = open_existing_store(import_.store_path);
  ASSERT_TRUE(held.ok());
  EXPECT_TRUE(back_up().ok());
  EXPECT_EQ(lines_of(restored()).size(), 40u);
}

TEST_F(StoreBackupTest, ForeignFoldersAreRefused) {
  std::filesystem::create_directory(copy_);
  std::ofstream(copy_ + "/letter") << "dear";
  EXPECT_THAT(std::string(back_up().status().message()), HasSubstr("no backup (letter)"));
  // A store is no backup, not even the same one.
  EXPECT_THAT(std::string(run_backup({import_.store_path, import_.store_path}).status().message()),
              HasSubstr("no backup"));
  EXPECT_TRUE(absl::IsNotFound(run_backup({folder_ + "/none", copy_}).status()));
}

TEST_F(StoreBackupTest, ABackupOfAnotherStoreIsRefused) {
  ASSERT_TRUE(back_up().ok());
  import_.store_path = folder_ + "/other";
  add(0, 5);
  EXPECT_THAT(std::string(back_up().status().message()), HasSubstr("a backup of another store"));
}

TEST_F(StoreBackupTest, ABackupThatWasUsedAsAStoreIsNotOverwritten) {
  ASSERT_TRUE(back_up().ok());
  const std::string original = import_.store_path;
  import_.store_path = copy_;
  add(100, 120);
  import_.store_path = original;
  add(40, 60);
  EXPECT_THAT(std::string(back_up().status().message()), HasSubstr("has been used as a store"));
  EXPECT_EQ(lines_of(copy_).size(), 60u);
}

TEST_F(StoreBackupTest, DamageOfTheStoreIsNotCopied) {
  const std::string path = import_.store_path + "/shard-001/log-00000001.seg";
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.put('!');
  }
  const auto report = back_up();
  EXPECT_TRUE(absl::IsDataLoss(report.status()));
  EXPECT_THAT(std::string(report.status().message()), HasSubstr(path));
  EXPECT_FALSE(std::filesystem::exists(copy_ + "/gyre-store"));
}

}  // namespace
}  // namespace gyre::app

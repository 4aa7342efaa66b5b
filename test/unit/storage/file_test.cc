// The contract of File and FileSystem, held by the kernel's and by the simulated one.
#include "gyre/storage/file.h"

#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using OpenMode = FileSystem::OpenMode;

enum class Kind { kKernel, kSimulated };

class FileContract : public testing::TestWithParam<Kind> {
 protected:
  void SetUp() override {
    if (GetParam() == Kind::kSimulated) {
      folder_ = "/folder";
      ASSERT_TRUE(files().create_directories(folder_).ok());
      return;
    }
    std::string pattern = (std::filesystem::temp_directory_path() / "gyre-file-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    if (GetParam() == Kind::kKernel) std::filesystem::remove_all(folder_);
  }

  FileSystem& files() { return GetParam() == Kind::kKernel ? posix_file_system() : simulated_; }
  const std::string& folder() const { return folder_; }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::unique_ptr<File> create(const std::string& name) {
    auto file = files().open(path(name), OpenMode::kCreateNew);
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return *std::move(file);
  }
  static void write(File& file, std::uint64_t offset, std::string_view text) {
    const ByteSpan part = as_bytes(text);
    ASSERT_TRUE(file.write_at(offset, {&part, 1}).ok());
  }
  std::string content(const std::string& name) {
    auto text = read_file(files(), path(name));
    EXPECT_TRUE(text.ok()) << text.status().ToString();
    return text.ok() ? *text : "";
  }

 private:
  test::SimFileSystem simulated_;
  std::string folder_;
};

INSTANTIATE_TEST_SUITE_P(Kernel, FileContract, testing::Values(Kind::kKernel));
INSTANTIATE_TEST_SUITE_P(Simulated, FileContract, testing::Values(Kind::kSimulated));

TEST_P(FileContract, WritesManyPartsInOrder) {
  auto file = create("parts");
  std::vector<std::string> texts;
  std::string expected = "..";
  for (int i = 0; i < 300; ++i) {
    texts.push_back(std::string(static_cast<std::size_t>(i % 7), static_cast<char>('a' + i % 26)));
    expected += texts.back();
  }
  std::vector<ByteSpan> parts;
  for (const std::string& text : texts) parts.push_back(as_bytes(text));
  write(*file, 0, "..");
  ASSERT_TRUE(file->write_at(2, parts).ok());
  EXPECT_EQ(content("parts"), expected);
}

TEST_P(FileContract, ReadsExactlyOrSaysThatTheFileEnds) {
  auto file = create("read");
  write(*file, 0, "0123456789");
  std::uint8_t bytes[4];
  ASSERT_TRUE(file->read_at(6, bytes).ok());
  EXPECT_EQ(as_text(bytes), "6789");
  EXPECT_TRUE(absl::IsOutOfRange(file->read_at(7, bytes)));
}

TEST_P(FileContract, AllocatedSpaceReadsAsZerosAndKeepsWhatIsThere) {
  auto file = create("allocated");
  write(*file, 0, "abc");
  ASSERT_TRUE(file->allocate(0, 8).ok());
  EXPECT_EQ(content("allocated"), std::string("abc\0\0\0\0\0", 8));
  ASSERT_TRUE(file->allocate(2, 3).ok());
  EXPECT_EQ(*file->size(), 8u);
}

TEST_P(FileContract, AMappingShowsWhatIsWrittenLater) {
  auto file = create("mapped");
  ASSERT_TRUE(file->allocate(0, 4096).ok());
  const auto mapping = file->map(1 << 20);
  ASSERT_TRUE(mapping.ok());
  EXPECT_EQ((*mapping)[100], 0);
  write(*file, 100, "new");
  EXPECT_EQ(as_text({*mapping + 100, 3}), "new");
  ASSERT_TRUE(file->allocate(4096, 4096).ok());
  write(*file, 8000, "grown");
  file->read_ahead(0, 1 << 20);
  file->populate(0, 8192);
  // Whether it may be locked is the machine's affair; that it is in memory is not.
  (void)file->keep_resident(0, 8192);
  EXPECT_EQ(as_text({*mapping + 8000, 5}), "grown");
}

TEST_P(FileContract, WhatTruncationCutIsZeroWhenTheFileGrowsAgain) {
  auto file = create("truncated");
  write(*file, 0, "secret");
  ASSERT_TRUE(file->truncate(2).ok());
  EXPECT_EQ(content("truncated"), "se");
  ASSERT_TRUE(file->allocate(0, 6).ok());
  EXPECT_EQ(content("truncated"), std::string("se\0\0\0\0", 6));
}

TEST_P(FileContract, OpeningSaysWhetherTheFileIsThere) {
  EXPECT_TRUE(absl::IsNotFound(files().open(path("none"), OpenMode::kRead).status()));
  EXPECT_TRUE(absl::IsNotFound(files().open(path("none"), OpenMode::kReadWrite).status()));
  EXPECT_FALSE(files().exists(path("none")));
  create("some");
  EXPECT_TRUE(files().exists(path("some")));
  EXPECT_TRUE(absl::IsAlreadyExists(files().open(path("some"), OpenMode::kCreateNew).status()));
}

TEST_P(FileContract, ErrorsNameThePath) {
  const auto missing = files().open(path("none"), OpenMode::kRead);
  EXPECT_THAT(std::string(missing.status().message()), HasSubstr(path("none")));
  EXPECT_THAT(std::string(files().remove(path("gone")).message()), HasSubstr(path("gone")));
}

TEST_P(FileContract, ListsNamesInOrder) {
  create("b");
  create("a");
  ASSERT_TRUE(files().create_directories(path("c/d")).ok());
  EXPECT_THAT(*files().list(folder()), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*files().list(path("c")), ElementsAre("d"));
  EXPECT_TRUE(absl::IsNotFound(files().list(path("none")).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(files().list(path("a")).status()));
}

TEST_P(FileContract, FoldersAreMadeWithTheirParentsAndMayExist) {
  ASSERT_TRUE(files().create_directories(path("one/two/three")).ok());
  ASSERT_TRUE(files().create_directories(path("one/two/three")).ok());
  create("one/two/three/file");
  create("file");
  EXPECT_TRUE(absl::IsFailedPrecondition(files().create_directories(path("file"))));
  EXPECT_TRUE(absl::IsFailedPrecondition(files().create_directories(path("file/below"))));
}

TEST_P(FileContract, RenameReplacesWhatStandsThere) {
  write(*create("from"), 0, "new");
  write(*create("to"), 0, "old");
  ASSERT_TRUE(files().rename(path("from"), path("to")).ok());
  EXPECT_EQ(content("to"), "new");
  EXPECT_FALSE(files().exists(path("from")));
  ASSERT_TRUE(files().remove(path("to")).ok());
  EXPECT_FALSE(files().exists(path("to")));
}

TEST_P(FileContract, AnOpenFileOutlivesItsName) {
  auto file = create("doomed");
  write(*file, 0, "still here");
  ASSERT_TRUE(files().remove(path("doomed")).ok());
  std::uint8_t bytes[5];
  ASSERT_TRUE(file->read_at(0, bytes).ok());
  EXPECT_EQ(as_text(bytes), "still");
}

TEST_P(FileContract, WritingAtomicallyReplacesAndLeavesNothingBehind) {
  ASSERT_TRUE(write_file_atomically(files(), path("file"), "first").ok());
  ASSERT_TRUE(write_file_atomically(files(), path("file"), "second").ok());
  EXPECT_EQ(content("file"), "second");
  EXPECT_FALSE(files().exists(path("file.tmp")));
}

TEST_P(FileContract, AnUnfinishedFileIsNoObstacle) {
  write(*create("file.tmp"), 0, "left by a crash, and longer than what comes");
  ASSERT_TRUE(write_file_atomically(files(), path("file"), "whole").ok());
  EXPECT_EQ(content("file"), "whole");
}

TEST_P(FileContract, ALockIsHeldByOneUntilItIsGivenBack) {
  auto first = files().lock(path("lock"));
  ASSERT_TRUE(first.ok());
  EXPECT_TRUE(absl::IsUnavailable(files().lock(path("lock")).status()));
  first->reset();
  EXPECT_TRUE(files().lock(path("lock")).ok());
}

TEST_P(FileContract, SyncsReportSuccess) {
  auto file = create("synced");
  write(*file, 0, "data");
  EXPECT_TRUE(file->sync_data().ok());
  EXPECT_TRUE(files().sync_directory(folder()).ok());
}

TEST(PosixFileSystem, TheMessageAboutALockNamesTheProcess) {
  std::string folder = (std::filesystem::temp_directory_path() / "gyre-lock-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  {
    const auto held = posix_file_system().lock(folder + "/lock");
    ASSERT_TRUE(held.ok());
    const auto refused = posix_file_system().lock(folder + "/lock");
    EXPECT_THAT(std::string(refused.status().message()),
                HasSubstr("locked by process " + std::to_string(getpid())));
  }
  std::filesystem::remove_all(folder);
}

TEST(PosixFileSystem, AFullDiskIsResourceExhausted) {
  if (!posix_file_system().exists("/dev/full")) return;
  auto file = posix_file_system().open("/dev/full", OpenMode::kReadWrite);
  ASSERT_TRUE(file.ok());
  const ByteSpan part = as_bytes("x");
  EXPECT_TRUE(absl::IsResourceExhausted((*file)->write_at(0, {&part, 1})));
}

TEST(SimFileSystem, UnsyncedWritesMaySurviveACrashOrNot) {
  bool has_survived = false;
  bool has_vanished = false;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.create_directories("/d").ok());
    auto file = files.open("/d/f", OpenMode::kCreateNew);
    const ByteSpan part = as_bytes("bytes");
    ASSERT_TRUE((*file)->allocate(0, 4096).ok());
    ASSERT_TRUE((*file)->sync_data().ok());
    ASSERT_TRUE(files.sync_directory("/d").ok());
    ASSERT_TRUE((*file)->write_at(0, {&part, 1}).ok());
    SeededRandom random(seed);
    files.crash(random);
    const std::string content = *read_file(files, "/d/f");
    has_survived |= content.starts_with("bytes");
    has_vanished |= content == std::string(4096, '\0');
  }
  EXPECT_TRUE(has_survived);
  EXPECT_TRUE(has_vanished);
}

TEST(SimFileSystem, WhatIsSyncedSurvivesEveryCrash) {
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.create_directories("/d").ok());
    ASSERT_TRUE(write_file_atomically(files, "/d/f", "synced").ok());
    auto file = files.open("/d/f", OpenMode::kReadWrite);
    const ByteSpan part = as_bytes(" and more");
    ASSERT_TRUE((*file)->write_at(6, {&part, 1}).ok());
    SeededRandom random(seed);
    files.crash(random);
    EXPECT_TRUE(read_file(files, "/d/f")->starts_with("synced"));
  }
}

TEST(SimFileSystem, ANewNameNeedsASyncOfItsFolder) {
  bool has_vanished = false;
  for (std::uint64_t seed = 0; seed < 32; ++seed) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.create_directories("/d").ok());
    auto file = files.open("/d/f", OpenMode::kCreateNew);
    ASSERT_TRUE((*file)->sync_data().ok());
    SeededRandom random(seed);
    files.crash(random);
    has_vanished |= !files.exists("/d/f");
  }
  EXPECT_TRUE(has_vanished);
}

TEST(SimFileSystem, KillingTheProcessLosesNothing) {
  test::SimFileSystem files;
  ASSERT_TRUE(files.create_directories("/d").ok());
  auto lock = files.lock("/d/lock");
  auto file = files.open("/d/f", OpenMode::kCreateNew);
  const ByteSpan part = as_bytes("bytes");
  ASSERT_TRUE((*file)->write_at(0, {&part, 1}).ok());
  files.kill_process();
  EXPECT_EQ(*read_file(files, "/d/f"), "bytes");
  EXPECT_TRUE(files.lock("/d/lock").ok());
}

TEST(SimFileSystem, NothingHappensAfterThePowerIsOff) {
  test::SimFileSystem files;
  ASSERT_TRUE(files.create_directories("/d").ok());
  ASSERT_TRUE(write_file_atomically(files, "/d/f", "old").ok());
  files.power_off_after(2);
  EXPECT_FALSE(write_file_atomically(files, "/d/f", "new").ok());
  EXPECT_TRUE(files.is_powered_off());
  SeededRandom random(1);
  files.crash(random);
  EXPECT_EQ(*read_file(files, "/d/f"), "old");
}

TEST(WriteFileAtomically, ACrashAnywhereLeavesTheOldOrTheNew) {
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SeededRandom random(seed);
    test::SimFileSystem files;
    ASSERT_TRUE(files.create_directories("/d").ok());
    ASSERT_TRUE(write_file_atomically(files, "/d/f", std::string(700, 'o')).ok());
    files.power_off_after(seed % 6);
    const bool was_done = write_file_atomically(files, "/d/f", std::string(1500, 'n')).ok();
    files.crash(random);
    const std::string content = *read_file(files, "/d/f");
    const bool is_new = content == std::string(1500, 'n');
    EXPECT_TRUE(is_new || (!was_done && content == std::string(700, 'o'))) << seed;
  }
}

TEST(WriteFileAtomically, AFullDiskLeavesTheOldAndNothingElse) {
  test::SimFileSystem files;
  ASSERT_TRUE(files.create_directories("/d").ok());
  ASSERT_TRUE(write_file_atomically(files, "/d/f", "old").ok());
  files.fail(test::SimFileSystem::Operation::kWrite, 0, test::SimFileSystem::Fault::kNoSpace);
  EXPECT_TRUE(absl::IsResourceExhausted(write_file_atomically(files, "/d/f", "new")));
  EXPECT_EQ(*read_file(files, "/d/f"), "old");
  EXPECT_FALSE(files.exists("/d/f.tmp"));
}

}  // namespace
}  // namespace gyre::storage

#include "gyre/storage/directory.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include "gyre/base/random.h"
#include "storage/directory_format.h"
#include "support/sim_file_system.h"

namespace gyre::storage {
namespace {

constexpr char kPath[] = "store/directory";

DirectoryRow row_of(std::uint64_t number) {
  return {.position = LogPosition::at(static_cast<std::uint32_t>(number / 100),
                                      static_cast<std::uint32_t>(number * 64)),
          .created_at = 1'700'000'000 + number,
          .id_prefix = number * 0x9e3779b97f4a7c15,
          .author_hash = static_cast<std::uint32_t>(number * 77),
          .kind = static_cast<std::uint16_t>(number % 7),
          .flags = static_cast<std::uint16_t>(number % 3 == 0 ? kRowExpires : 0)};
}

void expect_row(const DirectoryRow& row, std::uint64_t number, bool is_dead) {
  const DirectoryRow expected = row_of(number);
  EXPECT_EQ(row.position, expected.position) << number;
  EXPECT_EQ(row.created_at, expected.created_at) << number;
  EXPECT_EQ(row.id_prefix, expected.id_prefix) << number;
  EXPECT_EQ(row.author_hash, expected.author_hash) << number;
  EXPECT_EQ(row.kind, expected.kind) << number;
  EXPECT_EQ(row.flags, expected.flags | (is_dead ? kRowDead : 0)) << number;
}

class DirectoryTest : public ::testing::Test {
 protected:
  DirectoryTest() { EXPECT_TRUE(files_.create_directories("store").ok()); }

  std::unique_ptr<Directory> open(Sequence checkpointed_rows) {
    auto directory = Directory::open(files_, kPath, checkpointed_rows);
    EXPECT_TRUE(directory.ok()) << directory.status();
    return directory.ok() ? *std::move(directory) : nullptr;
  }
  static void append(Directory& directory, Sequence count) {
    for (Sequence i = 0; i < count; ++i) {
      const Sequence next = directory.next_sequence();
      EXPECT_EQ(directory.append(row_of(next)), next);
    }
  }
  static void checkpoint(Directory& directory) {
    const DirectoryDelta& delta = directory.freeze();
    ASSERT_TRUE(directory.write(delta).ok());
    directory.drop_frozen();
  }
  static void expect_rows(const Directory& directory, const std::set<Sequence>& dead) {
    for (Sequence i = 0; i < directory.next_sequence(); ++i) {
      expect_row(directory.row(i), i, dead.contains(i));
      EXPECT_EQ(directory.is_dead(i), dead.contains(i)) << i;
    }
  }

  test::SimFileSystem files_;
};

TEST_F(DirectoryTest, GivesRowsBackFromEveryStageOfTheirLife) {
  const auto directory = open(0);
  append(*directory, 10);
  directory->mark_dead(3, DeathCause::kOther);
  expect_rows(*directory, {3});
  const DirectoryDelta& delta = directory->freeze();
  EXPECT_EQ(delta.first, 0u);
  EXPECT_EQ(delta.rows.size(), 10u);
  EXPECT_TRUE(delta.deaths.empty());  // Those of rows of its own stand in the rows.
  append(*directory, 5);
  directory->mark_dead(4, DeathCause::kOther);
  directory->mark_dead(12, DeathCause::kOther);
  directory->mark_dead(12, DeathCause::kOther);
  expect_rows(*directory, {3, 4, 12});
  ASSERT_TRUE(directory->write(delta).ok());
  expect_rows(*directory, {3, 4, 12});
  directory->drop_frozen();
  expect_rows(*directory, {3, 4, 12});
  EXPECT_EQ(directory->next_sequence(), 15u);
}

TEST_F(DirectoryTest, ReopensAsTheLastCheckpointLeftIt) {
  {
    const auto directory = open(0);
    append(*directory, 100);
    checkpoint(*directory);
    append(*directory, 100);
    directory->mark_dead(0, DeathCause::kOther);    // Of a row in the file.
    directory->mark_dead(150, DeathCause::kOther);  // Of a row in memory.
    checkpoint(*directory);
    directory->mark_dead(1, DeathCause::kOther);  // Comes back by replay alone.
    append(*directory, 50);
  }
  const auto directory = open(200);
  EXPECT_EQ(directory->next_sequence(), 200u);
  expect_rows(*directory, {0, 150});
  append(*directory, 10);
  directory->mark_dead(1, DeathCause::kOther);
  expect_rows(*directory, {0, 1, 150});
}

TEST_F(DirectoryTest, PutsNoDeathIntoTheFileThatCameAfterTheFreeze) {
  {
    const auto directory = open(0);
    append(*directory, 10);
    checkpoint(*directory);
    directory->mark_dead(1, DeathCause::kOther);
    const DirectoryDelta& delta = directory->freeze();
    ASSERT_EQ(delta.deaths.size(), 1u);
    EXPECT_EQ(delta.deaths[0].sequence, 1u);
    directory->mark_dead(2, DeathCause::kOther);
    ASSERT_TRUE(directory->write(delta).ok());
    // The process is killed here: the record that killed 2 may not have reached the disk.
  }
  expect_rows(*open(10), {1});
}

TEST_F(DirectoryTest, IsOnlyAsLongAsTheManifestSays) {
  {
    const auto directory = open(0);
    append(*directory, 10);
    checkpoint(*directory);
    append(*directory, 10);
    ASSERT_TRUE(directory->write(directory->freeze()).ok());
    // No manifest counts the second ten: other events may get their numbers.
  }
  const auto directory = open(10);
  EXPECT_EQ(directory->next_sequence(), 10u);
  EXPECT_EQ(directory->append(row_of(10)), 10u);
  checkpoint(*directory);
  expect_rows(*directory, {});
}

TEST_F(DirectoryTest, SurvivesPowerFailuresAtAnyOperationOfACheckpoint) {
  for (std::uint64_t operations = 0;; ++operations) {
    test::SimFileSystem files;
    ASSERT_TRUE(files.create_directories("store").ok());
    SeededRandom random(operations);
    bool is_complete = false;
    {
      auto directory = *Directory::open(files, kPath, 0);
      append(*directory, 300);
      checkpoint(*directory);
      append(*directory, 300);
      for (Sequence i = 0; i < 300; i += 7) directory->mark_dead(i, DeathCause::kOther);
      const DirectoryDelta& delta = directory->freeze();
      files.power_off_after(operations);
      is_complete = directory->write(delta).ok();
    }
    files.crash(random);
    auto directory = Directory::open(files, kPath, is_complete ? 600 : 300);
    ASSERT_TRUE(directory.ok()) << directory.status();
    for (Sequence i = 0; i < (*directory)->next_sequence(); ++i) {
      const bool is_due = i < 300 && i % 7 == 0;
      const bool is_dead = (*directory)->is_dead(i);
      EXPECT_EQ(is_dead, is_complete ? is_due : is_dead && is_due) << i;
      expect_row((*directory)->row(i), i, is_dead);
    }
    if (is_complete) break;
  }
}

TEST_F(DirectoryTest, GrowsBeyondItsFirstMapping) {
  // 16 MiB hold half a million rows.
  const auto directory = open(0);
  append(*directory, 300'000);
  checkpoint(*directory);
  append(*directory, 300'000);
  directory->mark_dead(299'999, DeathCause::kOther);
  checkpoint(*directory);
  append(*directory, 300'000);
  checkpoint(*directory);
  EXPECT_EQ(directory->next_sequence(), 900'000u);
  for (const Sequence i : {0u, 299'998u, 300'000u, 599'999u, 600'000u, 899'999u}) {
    expect_row(directory->row(i), i, false);
  }
  EXPECT_TRUE(directory->is_dead(299'999));
}

TEST_F(DirectoryTest, TellsAFailedWriteAndCanRepeatIt) {
  const auto directory = open(0);
  append(*directory, 100);
  const DirectoryDelta& delta = directory->freeze();
  files_.fail(test::SimFileSystem::Operation::kAllocate, 0, test::SimFileSystem::Fault::kNoSpace);
  EXPECT_EQ(directory->write(delta).code(), absl::StatusCode::kResourceExhausted);
  files_.fail(test::SimFileSystem::Operation::kSync, 0, test::SimFileSystem::Fault::kIoError);
  EXPECT_FALSE(directory->write(delta).ok());
  expect_rows(*directory, {});
  ASSERT_TRUE(directory->write(delta).ok());
  directory->drop_frozen();
  expect_rows(*directory, {});
}

TEST_F(DirectoryTest, RefusesAFileThatIsMissingShortOrForeign) {
  EXPECT_EQ(Directory::open(files_, kPath, 1).status().code(), absl::StatusCode::kDataLoss);
  {
    const auto directory = open(0);
    append(*directory, 10);
    checkpoint(*directory);
  }
  auto content = files_.contents().at(kPath);
  const auto refuse = [&](std::vector<std::uint8_t> bytes) {
    files_.overwrite(kPath, std::move(bytes));
    const absl::Status status = Directory::open(files_, kPath, 10).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
    EXPECT_THAT(std::string(status.message()), ::testing::HasSubstr("gyre check --repair"));
  };
  refuse({content.begin(), content.begin() + kDirectoryHeaderBytes + 319});
  for (std::size_t i = 0; i < sizeof(DirectoryHeaderBytes); ++i) {
    auto damaged = content;
    damaged[i] ^= 1;
    refuse(damaged);
  }
}

TEST_F(DirectoryTest, OfNoRowsIsMadeAgainWhateverACrashLeftOfIt) {
  files_.overwrite(kPath, {1, 2, 3});
  const auto directory = open(0);
  append(*directory, 3);
  checkpoint(*directory);
  expect_rows(*directory, {});
}

TEST(DirectoryRowCheck, LetsPassAboutOneFlippedBitInEightThousand) {
  int unnoticed = 0;
  for (std::uint64_t number = 0; number < 200; ++number) {
    DirectoryRow sealed = row_of(number);
    seal_directory_row(sealed);
    std::uint8_t bytes[sizeof sealed];
    std::memcpy(bytes, &sealed, sizeof sealed);
    for (std::size_t bit = 0; bit < 8 * sizeof bytes; ++bit) {
      bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
      DirectoryRow damaged;
      std::memcpy(static_cast<void*>(&damaged), bytes, sizeof bytes);
      unnoticed += open_directory_row(damaged) ? 1 : 0;
      bytes[bit / 8] ^= static_cast<std::uint8_t>(1 << bit % 8);
    }
  }
  // 51,200 flips against 13 bits: six by the laws of chance.
  EXPECT_LE(unnoticed, 12);
}

TEST(DirectoryRowCheck, RefusesWhatWasNeverWritten) {
  DirectoryRow zeros{};
  EXPECT_FALSE(open_directory_row(zeros));
  DirectoryRow ones;
  std::memset(static_cast<void*>(&ones), 0xff, sizeof ones);
  EXPECT_FALSE(open_directory_row(ones));
}

using DirectoryDeathTest = DirectoryTest;

TEST_F(DirectoryDeathTest, StopsTheProcessAtADamagedRow) {
  {
    const auto directory = open(0);
    append(*directory, 10);
    checkpoint(*directory);
  }
  auto content = files_.contents().at(kPath);
  content[directory_row_offset(5) + 3] ^= 0x10;
  files_.overwrite(kPath, content);
  const auto directory = open(10);
  expect_row(directory->row(4), 4, false);
  EXPECT_EXIT((void)directory->row(5), ::testing::ExitedWithCode(1),
              "store/directory.*gyre check --repair");
}

}  // namespace
}  // namespace gyre::storage

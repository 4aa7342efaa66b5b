// Cuts the life of a store at thousands of points, and looks at what a recovery finds.
//
//   store_crash                    some 3,000 crash points: each I/O step of small histories and of
//                                  recoveries from them, and long histories at random
//   store_crash --points 10000     as many
//   store_crash --seed 7           other histories
//
// The first failure names the seed and the steps; with --seed the same histories come again.
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "CLI/CLI.hpp"
#include "crash/history.h"

namespace gyre::storage {
namespace {

constexpr std::array kPromises = {Durability::kFsync, Durability::kInterval, Durability::kOs};

std::uint64_t g_points = 3'000;
std::uint64_t g_seed = 1;

class StoreCrash : public testing::Test {
 protected:
  void TearDown() override {
    if (isatty(STDERR_FILENO) != 0) std::fprintf(stderr, "\r\033[K");
    std::printf(
        "%llu crash points: %llu checkpoints, %llu merges, %llu compactions, "
        "%llu times without manifest\n",
        static_cast<unsigned long long>(sum_.crashes),
        static_cast<unsigned long long>(sum_.checkpoints),
        static_cast<unsigned long long>(sum_.merges),
        static_cast<unsigned long long>(sum_.compactions),
        static_cast<unsigned long long>(sum_.forgotten));
  }

  void add(const History::Outcome& outcome) {
    sum_.crashes += outcome.crashes;
    sum_.checkpoints += outcome.checkpoints;
    sum_.merges += outcome.merges;
    sum_.compactions += outcome.compactions;
    sum_.forgotten += outcome.forgotten;
    if (isatty(STDERR_FILENO) != 0) {
      std::fprintf(stderr, "\r%llu crash points", static_cast<unsigned long long>(sum_.crashes));
    }
  }

  History::Outcome sum_;
};

// Whether the power failed in the history, and in the recovery from that.
struct Cuts {
  bool living = false;
  bool recovering = false;
};

Cuts cut_at(std::uint64_t seed, std::uint64_t living, std::uint64_t recovering,
            History::Outcome& sum) {
  SCOPED_TRACE(testing::Message() << "seed " << seed << ", power fails after " << living
                                  << " operations, and after " << recovering << " of the recovery");
  Cuts cuts;
  History history(seed, History::Size::kSmall, kPromises[seed % kPromises.size()]);
  cuts.living = history.live(living);
  cuts.recovering = history.recover(recovering);
  if (!testing::Test::HasFailure()) history.check_and_recover_again();
  const History::Outcome& outcome = history.outcome();
  ++sum.crashes;  // Both cuts are one point.
  sum.checkpoints += outcome.checkpoints;
  sum.merges += outcome.merges;
  sum.compactions += outcome.compactions;
  sum.forgotten += outcome.forgotten;
  return cuts;
}

// Power fails at each operation of the disk; and of some recoveries, at each operation of theirs.
History::Outcome cut_everywhere(std::uint64_t seed) {
  constexpr std::uint64_t kRecoveryStride = 8;
  History::Outcome sum;
  bool is_cut = true;
  for (std::uint64_t living = 0; is_cut && !testing::Test::HasFailure(); ++living) {
    is_cut = cut_at(seed, living, History::kNever, sum).living;
    if (living % kRecoveryStride != seed % kRecoveryStride) continue;
    for (std::uint64_t recovering = 0;
         !testing::Test::HasFailure() && cut_at(seed, living, recovering, sum).recovering;) {
      ++recovering;
    }
  }
  return sum;
}

TEST_F(StoreCrash, AtEveryStepLosesNothing) {
  const std::uint64_t points = g_points / 2;
  for (std::uint64_t seed = g_seed; sum_.crashes < points && !HasFailure(); ++seed) {
    add(cut_everywhere(seed));
  }
  EXPECT_GE(sum_.crashes, points);
  // Else the histories were too tame to show anything.
  EXPECT_GE(sum_.checkpoints, points / 10);
  EXPECT_GE(sum_.merges, points / 10);
  EXPECT_GE(sum_.compactions, points / 10);
}

TEST_F(StoreCrash, AtAnyTimeOfALongHistoryLosesNothing) {
  const std::uint64_t points = g_points - g_points / 2;
  for (std::uint64_t seed = g_seed; sum_.crashes < points && !HasFailure(); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    History history(seed, History::Size::kLong, kPromises[seed % kPromises.size()]);
    for (int life = 0; life < 4 && !HasFailure(); ++life) {
      history.live(history.below(4) != 0 ? history.below(120) : History::kNever);
      history.recover(history.below(3) == 0 ? history.below(15) : History::kNever);
      if (!HasFailure()) history.check_and_recover_again();
    }
    add(history.outcome());
  }
  EXPECT_GE(sum_.crashes, points);
  EXPECT_GE(sum_.checkpoints, points / 10);
  EXPECT_GE(sum_.merges, points / 50);
  EXPECT_GE(sum_.compactions, points / 10);
  EXPECT_GE(sum_.forgotten, points / 20);
}

}  // namespace
}  // namespace gyre::storage

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  CLI::App program("Cuts the life of a store at many points, and looks at what recovery finds.");
  program.add_option("--points", gyre::storage::g_points, "crash points")
      ->check(CLI::Range(10, 100'000'000));
  program.add_option("--seed", gyre::storage::g_seed, "of the first history");
  CLI11_PARSE(program, argc, argv);
  return RUN_ALL_TESTS();
}

#include "app/suggestion.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

namespace gyre::app {
namespace {

TEST(Suggestion, DistanceCountsInsertionsDeletionsAndReplacements) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("listen", "listen"), 0u);
  EXPECT_EQ(edit_distance("lsten", "listen"), 1u);
  EXPECT_EQ(edit_distance("listten", "listen"), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  EXPECT_EQ(edit_distance("sitting", "kitten"), 3u);
}

TEST(Suggestion, FindsTheClosestCandidateWithinTheBound) {
  constexpr std::array<std::string_view, 3> kNames = {"net.listen", "net.ping_s", "store.path"};
  EXPECT_EQ(find_closest("net.lisen", kNames, 2), "net.listen");
  EXPECT_EQ(find_closest("net.pings", kNames, 2), "net.ping_s");
  EXPECT_EQ(find_closest("store.path", kNames, 0), "store.path");
  EXPECT_EQ(find_closest("entirely", kNames, 2), "");
}

TEST(Suggestion, OfEqualsTheFirstIsTaken) {
  constexpr std::array<std::string_view, 2> kNames = {"cat", "car"};
  EXPECT_EQ(find_closest("cap", kNames, 1), "cat");
}

}  // namespace
}  // namespace gyre::app

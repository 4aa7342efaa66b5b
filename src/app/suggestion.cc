#include "app/suggestion.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace gyre::app {

std::size_t edit_distance(std::string_view left, std::string_view right) {
  // Row by row of the usual table: row[i] is the distance between left[0, i) and right so far.
  std::vector<std::size_t> row(left.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (const char letter : right) {
    std::size_t diagonal = row[0]++;
    for (std::size_t i = 0; i < left.size(); ++i) {
      const std::size_t replaced = diagonal + (left[i] == letter ? 0 : 1);
      diagonal = row[i + 1];
      row[i + 1] = std::min({replaced, row[i] + 1, diagonal + 1});
    }
  }
  return row.back();
}

std::string_view find_closest(std::string_view name, std::span<const std::string_view> candidates,
                              std::size_t distance_max) {
  std::string_view closest;
  std::size_t smallest = distance_max + 1;
  for (const std::string_view candidate : candidates) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance >= smallest) continue;
    smallest = distance;
    closest = candidate;
  }
  return closest;
}

}  // namespace gyre::app

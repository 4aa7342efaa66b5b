// "Did you mean ...": the known name that is closest to an unknown one.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace gyre::app {

// Insertions, deletions and replacements that turn one text into the other.
[[nodiscard]] std::size_t edit_distance(std::string_view left, std::string_view right);

// The candidate at the smallest distance, the first of equals; empty if none is within
// `distance_max`.
[[nodiscard]] std::string_view find_closest(std::string_view name,
                                            std::span<const std::string_view> candidates,
                                            std::size_t distance_max);

}  // namespace gyre::app

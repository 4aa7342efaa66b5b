// What happens when a derived file turns out to be damaged while it is in use.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

namespace gyre::storage {

// Names the file and the cure in the operator's log and ends the process: going on would serve
// wrong answers, and the log, from which every derived file can be made again, is not touched.
[[noreturn]] void stop_for_corruption(std::string_view path, std::string_view damage);

// The same sentence for a status at start.
inline constexpr char kRebuildCure[] =
    "stop gyre and run `gyre check --repair`: the index is made again from the log, and nothing is "
    "lost";
// And of what is damaged in the log itself.
inline constexpr char kSalvageCure[] =
    "stop gyre and run `gyre check --repair`: it keeps every whole record and lists what is lost; "
    "or restore a backup";

// A derived file of another version: `found` stands in it, `known` is the only one that is read.
// One of an older version is no reason to refuse to start, for the log has everything that it says:
// is_older_derived_version() tells it from all other errors.
[[nodiscard]] absl::Status derived_version_error(std::string_view path, std::uint32_t found,
                                                 std::uint32_t known);
[[nodiscard]] bool is_older_derived_version(const absl::Status& status);

}  // namespace gyre::storage

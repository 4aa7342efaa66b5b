// What happens when a derived file turns out to be damaged while it is in use.
#pragma once

#include <string_view>

namespace gyre::storage {

// Names the file and the cure in the operator's log and ends the process: going on would serve
// wrong answers, and the log, from which every derived file can be made again, is not touched.
[[noreturn]] void stop_for_corruption(std::string_view path, std::string_view damage);

// The same sentence for a status at start.
inline constexpr char kRebuildCure[] =
    "stop gyre and remove the file `manifest` of that shard: the index is made again from the log";

}  // namespace gyre::storage

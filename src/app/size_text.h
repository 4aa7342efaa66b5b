// Sizes as people write them: "524288", "512 KiB", "128MiB", "2 GiB". Powers of 1024 only; a "MB"
// would leave open which one is meant.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::app {

// Nothing for anything else, and for what does not fit 63 bits.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text);

// The shortest exact form: "128 MiB", "1000 bytes".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

}  // namespace gyre::app

// Ages as people write them: "90d", "12h", "1y", "forever". A year has 365 days.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::app {

// Seconds; 0 for "forever". Nothing for anything else, for no time at all, and for more than a
// thousand years.
[[nodiscard]] std::optional<std::uint64_t> parse_age(std::string_view text);

// The shortest exact form.
[[nodiscard]] std::string age_text(std::uint64_t seconds);

}  // namespace gyre::app

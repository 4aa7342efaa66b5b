// Filters on a command line.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "gyre/nostr/filter.h"

namespace gyre::app {

// NIP-01 filters, each one JSON object; the error names the one that is wrong and why.
[[nodiscard]] absl::StatusOr<nostr::Filter> parse_filter_argument(const std::string& json);
[[nodiscard]] absl::StatusOr<std::vector<nostr::Filter>> parse_filter_arguments(
    const std::vector<std::string>& json);

// It excludes nothing: `{}`, or a filter that has a limit only.
[[nodiscard]] bool matches_everything(const nostr::Filter& filter);

}  // namespace gyre::app

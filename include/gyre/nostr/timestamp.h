// Times of events, in seconds since 1970 (UTC, without leap seconds), as people write them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gyre::nostr {

// Last second of the year 9999, up to which times have a form as a date.
inline constexpr std::uint64_t kDateSecondsMax = 253'402'300'799;

// "2026-01-01T00:00:00Z" (RFC 3339); the bare number above kDateSecondsMax.
[[nodiscard]] std::string timestamp_text(std::uint64_t seconds);

// Reads that form, a date alone ("2026-01-01"), or a number of seconds up to 2^63 - 1.
[[nodiscard]] std::optional<std::uint64_t> parse_timestamp(std::string_view text);

}  // namespace gyre::nostr

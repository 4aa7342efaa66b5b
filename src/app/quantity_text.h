// Quantities as people like to read them in a report.
#pragma once

#include <cstdint>
#include <string>

namespace gyre::app {

[[nodiscard]] std::string count_text(std::uint64_t count);  // "12,345,678"
[[nodiscard]] std::string bytes_text(std::uint64_t bytes);  // "1.4 GiB", "512 bytes"
[[nodiscard]] std::string seconds_text(double seconds);     // "0.42 s", "3 min 20 s"
[[nodiscard]] std::string time_text(std::uint64_t unix_s);  // "2026-11-30 21:18:55"
[[nodiscard]] std::string share_text(std::uint64_t part, std::uint64_t whole);  // "12.5 %"

}  // namespace gyre::app

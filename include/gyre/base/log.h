// The operator's log: one line an event, to standard error.
//
// Lines are "<level> <text>". A line is written with one write(2) and never from a hot path: what
// can happen once per message is counted instead.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre {

enum class LogLevel : std::uint8_t { kDebug, kInfo, kWarning, kError };

// Lines below this are dropped. Process-wide; set at start and by reload.
void set_log_level(LogLevel level);
[[nodiscard]] LogLevel log_level();

// printf-style; control characters in the result are replaced, so a peer cannot forge a line.
__attribute__((format(printf, 2, 3))) void log_line(LogLevel level, const char* format, ...);

#define GYRE_LOG(level, ...)                                  \
  do {                                                        \
    if (::gyre::LogLevel::level >= ::gyre::log_level())       \
      ::gyre::log_line(::gyre::LogLevel::level, __VA_ARGS__); \
  } while (false)

}  // namespace gyre

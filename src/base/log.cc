#include "gyre/base/log.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdarg>
#include <cstdio>

namespace gyre {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};

constexpr const char* kLevelNames[] = {"debug", "info", "warning", "error"};
constexpr std::size_t kLineBytesMax = 1024;

}  // namespace

void set_log_level(LogLevel level) { g_level.store(level, std::memory_order_relaxed); }

LogLevel log_level() { return g_level.load(std::memory_order_relaxed); }

void log_line(LogLevel level, const char* format, ...) {
  char line[kLineBytesMax];
  int length =
      std::snprintf(line, sizeof line, "%s ", kLevelNames[static_cast<std::size_t>(level)]);
  std::va_list arguments;
  va_start(arguments, format);
  length += std::vsnprintf(line + length, sizeof line - static_cast<std::size_t>(length), format,
                           arguments);
  va_end(arguments);
  length = std::min(length, static_cast<int>(sizeof line) - 1);
  std::replace_if(
      line, line + length, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      '?');
  line[length++] = '\n';
  [[maybe_unused]] const ssize_t written =
      write(STDERR_FILENO, line, static_cast<std::size_t>(length));
}

}  // namespace gyre

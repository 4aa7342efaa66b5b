#include "app/quantity_text.h"

#include <array>
#include <cstdio>
#include <ctime>

namespace gyre::app {
namespace {

template <typename... Values>
std::string formatted(const char* format, Values... values) {
  std::array<char, 64> text;
  const int bytes = std::snprintf(text.data(), text.size(), format, values...);
  return {text.data(), static_cast<std::size_t>(bytes)};
}

}  // namespace

std::string count_text(std::uint64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 4> kUnits = {"KiB", "MiB", "GiB", "TiB"};
  if (bytes < 1024) return std::to_string(bytes) + " bytes";
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return formatted("%.1f ", value) + kUnits[unit];
}

std::string seconds_text(double seconds) {
  if (seconds < 10) return formatted("%.2f s", seconds);
  if (seconds < 120) return formatted("%.0f s", seconds);
  const auto whole = static_cast<unsigned long>(seconds);
  return formatted("%lu min %lu s", whole / 60, whole % 60);
}

std::string time_text(std::uint64_t unix_s) {
  // Beyond the year 9999 no event means what it says.
  constexpr std::uint64_t kYear10000 = 253'402'300'800;
  if (unix_s >= kYear10000) return std::to_string(unix_s);
  const auto time = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  gmtime_r(&time, &parts);
  std::array<char, 32> text;
  const std::size_t bytes = std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S", &parts);
  return {text.data(), bytes};
}

std::string share_text(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return "0.0 %";
  return formatted("%.1f %%", 100 * static_cast<double>(part) / static_cast<double>(whole));
}

}  // namespace gyre::app

#include "app/age_text.h"

#include <array>
#include <charconv>

namespace gyre::app {
namespace {

constexpr std::string_view kForever = "forever";
constexpr std::uint64_t kDayS = 24 * 3600;

struct Unit {
  char name;
  std::uint64_t seconds;
};
// Largest first, for age_text.
constexpr std::array<Unit, 6> kUnits = {
    {{'y', 365 * kDayS}, {'w', 7 * kDayS}, {'d', kDayS}, {'h', 3600}, {'m', 60}, {'s', 1}}};
constexpr std::uint64_t kAgeMaxS = 1000 * 365 * kDayS;

}  // namespace

std::optional<std::uint64_t> parse_age(std::string_view text) {
  if (text == kForever) return 0;
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{} || last - end != 1 || number == 0) return std::nullopt;
  for (const Unit& unit : kUnits) {
    if (*end == unit.name && number <= kAgeMaxS / unit.seconds) return number * unit.seconds;
  }
  return std::nullopt;
}

std::string age_text(std::uint64_t seconds) {
  if (seconds == 0) return std::string(kForever);
  for (const Unit& unit : kUnits) {
    // Nobody writes 12 weeks for 84 days.
    if (unit.name == 'w' || seconds % unit.seconds != 0) continue;
    return std::to_string(seconds / unit.seconds) + unit.name;
  }
  return {};
}

}  // namespace gyre::app

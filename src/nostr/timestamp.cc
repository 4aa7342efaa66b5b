#include "gyre/nostr/timestamp.h"

#include <array>
#include <chrono>
#include <cstdio>

#include "gyre/nostr/event.h"
#include "nostr/json_number.h"

namespace gyre::nostr {
namespace {

// Takes exactly `digits` digits off the front.
std::optional<unsigned> take_number(std::string_view& text, std::size_t digits) {
  unsigned value = 0;
  if (text.size() < digits) return std::nullopt;
  for (const char c : text.substr(0, digits)) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + static_cast<unsigned>(c - '0');
  }
  text.remove_prefix(digits);
  return value;
}

bool take(std::string_view& text, char expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(1);
  return true;
}

std::optional<std::uint64_t> parse_date(std::string_view text) {
  const auto year = take_number(text, 4);
  if (!year || !take(text, '-')) return std::nullopt;
  const auto month = take_number(text, 2);
  if (!month || !take(text, '-')) return std::nullopt;
  const auto day = take_number(text, 2);
  if (!day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(static_cast<int>(*year)),
                                         std::chrono::month(*month), std::chrono::day(*day)};
  if (!date.ok() || *year < 1970) return std::nullopt;
  const auto days =
      static_cast<std::uint64_t>(std::chrono::sys_days(date).time_since_epoch().count());
  if (text.empty()) return days * 86'400;
  if (!take(text, 'T')) return std::nullopt;
  const auto hour = take_number(text, 2);
  if (!hour || *hour > 23 || !take(text, ':')) return std::nullopt;
  const auto minute = take_number(text, 2);
  if (!minute || *minute > 59 || !take(text, ':')) return std::nullopt;
  const auto second = take_number(text, 2);
  if (!second || *second > 59 || text != "Z") return std::nullopt;
  return days * 86'400 + *hour * 3'600 + *minute * 60 + *second;
}

}  // namespace

std::string timestamp_text(std::uint64_t seconds) {
  if (seconds > kDateSecondsMax) return std::to_string(seconds);
  const std::chrono::sys_days day{std::chrono::days(seconds / 86'400)};
  const std::chrono::year_month_day date(day);
  const std::uint64_t rest = seconds % 86'400;
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02u:%02u:%02uZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<unsigned>(rest / 3'600),
                static_cast<unsigned>(rest / 60 % 60), static_cast<unsigned>(rest % 60));
  return text.data();
}

std::optional<std::uint64_t> parse_timestamp(std::string_view text) {
  const IntegerToken number = parse_integer(text);
  if (!number.is_integer || number.digits != text) return parse_date(text);
  if (!number.fits || number.magnitude > kCreatedAtMax) return std::nullopt;
  return number.magnitude;
}

}  // namespace gyre::nostr

#include "app/size_text.h"

#include <array>
#include <charconv>
#include <limits>

namespace gyre::app {
namespace {

struct Unit {
  std::string_view name;
  int shift;
};
// Largest first, for size_text.
constexpr std::array<Unit, 3> kUnits = {{{"GiB", 30}, {"MiB", 20}, {"KiB", 10}}};
constexpr std::uint64_t kSizeMax = std::numeric_limits<std::int64_t>::max();

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number > kSizeMax) return std::nullopt;
  std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  if (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest.empty()) return end == text.data() + text.size() ? std::optional(number) : std::nullopt;
  for (const Unit& unit : kUnits) {
    if (rest != unit.name) continue;
    if (number > kSizeMax >> unit.shift) return std::nullopt;
    return number << unit.shift;
  }
  return std::nullopt;
}

std::string size_text(std::uint64_t bytes) {
  for (const Unit& unit : kUnits) {
    const std::uint64_t one = std::uint64_t{1} << unit.shift;
    if (bytes >= one && bytes % one == 0) {
      return std::to_string(bytes >> unit.shift) + " " + std::string(unit.name);
    }
  }
  return std::to_string(bytes) + " bytes";
}

}  // namespace gyre::app

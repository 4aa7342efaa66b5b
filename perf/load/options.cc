#include "options.h"

#include <charconv>

#include "failure.h"

namespace gyre::load {

Options::Options(int argc, char** argv, int first) {
  for (int i = first; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--")) fail("not an option: " + std::string(argument));
    Given given;
    given.name = argument.substr(2);
    if (i + 1 < argc && !std::string_view(argv[i + 1]).starts_with("--")) {
      given.value = argv[++i];
      given.has_value = true;
    }
    given_.push_back(std::move(given));
  }
}

Options::Given* Options::find(std::string_view name) {
  for (Given& given : given_) {
    if (given.name != name) continue;
    given.is_used = true;
    return &given;
  }
  return nullptr;
}

std::string Options::text(std::string_view name, std::string_view otherwise) {
  const Given* given = find(name);
  if (given == nullptr) return std::string(otherwise);
  if (!given->has_value) fail("--" + given->name + " needs a value");
  return given->value;
}

std::string Options::required_text(std::string_view name) {
  std::string value = text(name, "");
  if (value.empty()) fail("--" + std::string(name) + " is missing");
  return value;
}

std::uint64_t Options::number(std::string_view name, std::uint64_t otherwise) {
  const std::string value = text(name, "");
  if (value.empty()) return otherwise;
  std::uint64_t number = 0;
  const char* end = value.data() + value.size();
  const auto [stop, error] = std::from_chars(value.data(), end, number);
  if (error != std::errc{} || stop != end) fail("--" + std::string(name) + " is not a number");
  return number;
}

bool Options::flag(std::string_view name) {
  const Given* given = find(name);
  if (given == nullptr) return false;
  if (given->has_value) fail("--" + given->name + " takes no value");
  return true;
}

void Options::finish() const {
  for (const Given& given : given_) {
    if (!given.is_used) fail("unknown option --" + given.name);
  }
}

}  // namespace gyre::load

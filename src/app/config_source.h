// Settings: what the sources of a configuration say, key by key, before anything is checked.
//
// This is the one place that meets toml++. Values of the environment and of --set are TOML too, so
// that a list is written the same way everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace gyre::app {

// What no key takes: dates, floats, lists of lists or of mixed types, and such tables.
struct UnsupportedValue {};

// A table of texts.
using TextTable = std::vector<std::pair<std::string, std::string>>;

using SettingValue = std::variant<UnsupportedValue, bool, std::int64_t, std::string,
                                  std::vector<std::int64_t>, std::vector<std::string>, TextTable>;

struct Setting {
  std::string key;     // "section.key", or whatever was written in its place.
  SettingValue value;  // An empty list is an empty list of strings.
  std::string shown;   // The value in TOML notation, shortened, for messages.
  std::string origin;  // "gyre.toml:12", "environment GYRE_NET_LISTEN", "--set"
};

struct Settings {
  std::vector<Setting> settings;    // In rising order of precedence within the source.
  std::vector<std::string> errors;  // What could not be read at all, a line each.
};

// `text` is the content of a TOML file, `name` what messages call it.
[[nodiscard]] Settings read_toml(std::string_view text, const std::string& name);
[[nodiscard]] Settings read_toml_file(const std::string& path);

// One value as the environment or --set gives it: TOML, or a bare word that is a string.
[[nodiscard]] Setting read_value(std::string key, std::string_view text, std::string origin);

// `text` in TOML notation: quoted, with escapes.
[[nodiscard]] std::string toml_quoted(std::string_view text);

}  // namespace gyre::app

// The table of all configuration keys: one row each, in the order in which they are printed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "app/config_field.h"

namespace gyre::app {

enum class Reload : std::uint8_t {
  kLive,     // SIGHUP takes it over.
  kRestart,  // Fixed once the relay runs.
};

struct ConfigKey {
  std::string_view section;
  std::string_view name;
  Reload reload;
  ConfigField field;
  std::string_view meaning;  // For operators; sentences.

  [[nodiscard]] std::string path() const;         // "net.ping_s"
  [[nodiscard]] std::string environment() const;  // "GYRE_NET_PING_S"
};

[[nodiscard]] std::span<const ConfigKey> config_keys();

// What a section is about, for its head in the file. Requires: a section of the table.
[[nodiscard]] bool is_config_section(std::string_view path);
[[nodiscard]] std::string_view section_meaning(std::string_view section);

}  // namespace gyre::app

// The options by which commands take a configuration.
#pragma once

#include "CLI/CLI.hpp"
#include "app/config.h"

namespace gyre::app {

inline void add_config_options(CLI::App& command, ConfigSources& sources) {
  sources.environment = process_environment();
  command.add_option("--config", sources.file,
                     "TOML file; `gyre config --defaults` shows every key");
  command
      .add_option("--set", sources.settings,
                  "KEY=VALUE, over file and environment; VALUE in TOML, a bare word is a string")
      ->allow_extra_args(false);
}

}  // namespace gyre::app

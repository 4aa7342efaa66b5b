// The option by which commands take a secret key.
#pragma once

#include <string>

#include "CLI/CLI.hpp"
#include "app/secret_source.h"

namespace gyre::app {

inline CLI::Option* add_secret_option(CLI::App& command, std::string& file) {
  return command.add_option(
      "--secret-file", file,
      "file with the secret key, hex, nsec or what keygen printed; - is standard "
      "input. Without it the "
      "environment variable GYRE_SECRET_KEY is taken; an argument never is, since "
      "all users of the machine can see those");
}

}  // namespace gyre::app

#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/command/config_options.h"
#include "app/config.h"

namespace gyre::app {
namespace {

struct Options {
  ConfigSources sources;
  bool shows_defaults = false;
};

int run(const Options& options) {
  const auto config =
      options.shows_defaults ? absl::StatusOr<Config>(Config{}) : load_config(options.sources);
  if (!config.ok()) return report(config.status());
  std::fputs(config_text(*config).c_str(), stdout);
  return 0;
}

}  // namespace

Command add_config_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const parser = program.add_subcommand("config", "print the configuration");
  parser->add_flag("--defaults", options->shows_defaults,
                   "the defaults instead of what is in effect");
  add_config_options(*parser, options->sources);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

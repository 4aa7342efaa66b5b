#include <memory>

#include "app/command/command.h"
#include "app/command/config_options.h"
#include "app/config.h"
#include "app/server.h"

namespace gyre::app {
namespace {

int run(const ConfigSources& sources) {
  const auto config = load_config(sources);
  if (!config.ok()) return report(config.status());
  return report(run_server(sources, *config));
}

}  // namespace

Command add_relay_command(CLI::App& program) {
  const auto sources = std::make_shared<ConfigSources>();
  CLI::App* const parser = program.add_subcommand("relay", "run the relay");
  add_config_options(*parser, *sources);
  return {parser, [sources] { return run(*sources); }};
}

}  // namespace gyre::app

#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "app/command/command.h"
#include "app/version.h"

namespace {

using namespace gyre::app;

constexpr char kExamples[] = R"(
Examples:
  gyre relay                                     serve on 127.0.0.1:7447 with the default store
  gyre relay --config /etc/gyre/gyre.toml        serve as the file says
  gyre relay --set net.listen=0.0.0.0:80 --set limits.connections=50000
  gyre config --defaults > gyre.toml             every key with its meaning and default
  gyre import --store /var/lib/gyre dump.jsonl   verify and store events, one JSON object a line
  gyre export --store /var/lib/gyre --filter '{"kinds":[0,3]}' > people.jsonl)";

}  // namespace

int gyre::app::report(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "gyre: %s\n", std::string(status.message()).c_str());
  return 1;
}

int main(int argc, char** argv) {
  CLI::App program("gyre: a Nostr relay for Linux servers");
  program.footer(kExamples);
  program.set_version_flag("--version", std::string("gyre ") + kVersion);
  program.require_subcommand(1);

  const Command commands[] = {
      add_relay_command(program),  add_config_command(program),  add_import_command(program),
      add_export_command(program), add_keygen_command(program),  add_convert_command(program),
      add_event_command(program),  add_encrypt_command(program), add_decrypt_command(program),
  };

  CLI11_PARSE(program, argc, argv);
  for (const Command& command : commands) {
    if (command.parser->parsed()) return command.run();
  }
  return 1;
}

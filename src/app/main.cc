#include <cinttypes>
#include <cstdio>
#include <string>

#include "CLI/CLI.hpp"
#include "app/config.h"
#include "app/export.h"
#include "app/import.h"
#include "app/server.h"
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

int report(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "gyre: %s\n", std::string(status.message()).c_str());
  return 1;
}

int run_relay_command(const ConfigSources& sources) {
  const auto config = load_config(sources);
  if (!config.ok()) return report(config.status());
  return report(run_server(sources, *config));
}

int run_config_command(const ConfigSources& sources, bool shows_defaults) {
  const auto config = shows_defaults ? absl::StatusOr<Config>(Config{}) : load_config(sources);
  if (!config.ok()) return report(config.status());
  std::fputs(config_text(*config).c_str(), stdout);
  return 0;
}

int run_import_command(const ImportOptions& options) {
  const auto result = run_import(options);
  if (!result.ok()) return report(result.status());
  std::uint64_t refused = 0;
  for (const auto& [reason, count] : result->refused) refused += count;
  std::printf("%" PRIu64 " added, %" PRIu64 " duplicates, %" PRIu64 " refused of %" PRIu64
              " lines%s\n",
              result->added, result->duplicates, refused, result->lines,
              result->was_interrupted ? " (interrupted; run it again to go on)" : "");
  for (const auto& [reason, count] : result->refused) {
    std::printf("  %8" PRIu64 "  %s\n", count, reason.c_str());
  }
  if (!result->failure.empty()) return report(absl::UnavailableError(result->failure));
  return result->was_interrupted ? 130 : 0;
}

int run_export_command(const ExportOptions& options) {
  const auto written = run_export(options);
  if (!written.ok()) return report(written.status());
  std::fprintf(stderr, "%" PRIu64 " events exported\n", *written);
  return 0;
}

void add_config_options(CLI::App& command, ConfigSources& sources) {
  command.add_option("--config", sources.file,
                     "TOML file; `gyre config --defaults` shows every key");
  command
      .add_option("--set", sources.settings,
                  "KEY=VALUE, over file and environment; VALUE in TOML, a bare word is a string")
      ->allow_extra_args(false);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("gyre: a Nostr relay for Linux servers");
  app.footer(kExamples);
  app.set_version_flag("--version", std::string("gyre ") + kVersion);
  app.require_subcommand(1);

  ConfigSources sources;
  sources.environment = process_environment();
  CLI::App* const relay = app.add_subcommand("relay", "run the relay");
  add_config_options(*relay, sources);

  CLI::App* const config = app.add_subcommand("config", "print the configuration");
  bool shows_defaults = false;
  config->add_flag("--defaults", shows_defaults, "the defaults instead of what is in effect");
  add_config_options(*config, sources);

  ImportOptions import_options;
  CLI::App* const import = app.add_subcommand("import", "store events from JSONL, all verified");
  import->add_option("--store", import_options.store_path, "the store's folder")->required();
  import->add_option("FILE", import_options.file, "JSONL; standard input without it");
  import->add_option("--shards", import_options.shards,
                     "for a new store; default: one for each core");
  import->add_flag("--protected", import_options.accepts_protected,
                   "take protected events (NIP-70) too, as for a backup of your own");
  import->add_option("--relay-url", import_options.relay_urls,
                     "requests to vanish (NIP-62) that name this URL take effect");
  import->add_option("--line-bytes-max", import_options.line_bytes_max, "longer lines are refused")
      ->capture_default_str()
      ->check(CLI::Range(1024u, kMessageBytesMax));

  ExportOptions export_options;
  CLI::App* const exporter = app.add_subcommand("export", "write events as JSONL, newest first");
  exporter->add_option("--store", export_options.store_path, "the store's folder")->required();
  exporter->add_option("--filter", export_options.filter, "a NIP-01 filter as JSON");
  exporter->add_option("FILE", export_options.file, "standard output without it");

  CLI11_PARSE(app, argc, argv);
  if (relay->parsed()) return run_relay_command(sources);
  if (config->parsed()) return run_config_command(sources, shows_defaults);
  if (import->parsed()) return run_import_command(import_options);
  return run_export_command(export_options);
}

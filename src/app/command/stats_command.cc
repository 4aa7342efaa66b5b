#include <cstdio>
#include <memory>
#include <string>

#include "app/command/command.h"
#include "app/store_stats.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre stats --store /var/lib/gyre
  gyre stats --store /var/lib/gyre --json | jq '.total.kinds["1"].alive'

The relay may be running: nothing is locked or changed.)";

struct Options {
  std::string store_path;
  bool writes_json = false;
};

int run(const Options& options) {
  const auto stats = run_stats(options.store_path);
  if (!stats.ok()) return report(stats.status());
  std::fputs((options.writes_json ? stats_json(*stats) : stats_text(*stats)).c_str(), stdout);
  return 0;
}

}  // namespace

Command add_stats_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const parser =
      program.add_subcommand("stats", "say what a store holds, also under a running relay");
  parser->add_option("--store", options->store_path, "the store's folder")->required();
  parser->add_flag("--json", options->writes_json, "one JSON object instead of tables");
  parser->footer(kExamples);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

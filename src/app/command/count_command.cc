#include <cinttypes>
#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/interrupt.h"
#include "app/store_scan.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre count --store DIR                                        all events that are alive
  gyre count --store DIR --filter '{"kinds":[1],"since":1764000000}')";

int run(const CountOptions& options) {
  catch_interrupts();
  const auto count = run_count(options);
  if (!count.ok()) return report(count.status());
  std::printf("%" PRIu64 "\n", *count);
  return 0;
}

}  // namespace

Command add_count_command(CLI::App& program) {
  const auto options = std::make_shared<CountOptions>();
  CLI::App* const parser = program.add_subcommand("count", "count events that match, by the index");
  parser->add_option("--store", options->store_path, "the store's folder")->required();
  parser->add_option("--filter", options->filters, "a NIP-01 filter as JSON; any of several")
      ->allow_extra_args(false);
  parser->footer(kExamples);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

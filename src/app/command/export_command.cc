#include <cinttypes>
#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/export.h"

namespace gyre::app {
namespace {

int run(const ExportOptions& options) {
  const auto written = run_export(options);
  if (!written.ok()) return report(written.status());
  std::fprintf(stderr, "%" PRIu64 " events exported\n", *written);
  return 0;
}

}  // namespace

Command add_export_command(CLI::App& program) {
  const auto options = std::make_shared<ExportOptions>();
  CLI::App* const parser = program.add_subcommand("export", "write events as JSONL, newest first");
  parser->add_option("--store", options->store_path, "the store's folder")->required();
  parser->add_option("--filter", options->filter, "a NIP-01 filter as JSON");
  parser->add_option("FILE", options->file, "standard output without it");
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

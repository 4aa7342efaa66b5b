#include <cinttypes>
#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/config.h"
#include "app/import.h"

namespace gyre::app {
namespace {

int run(const ImportOptions& options) {
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

}  // namespace

Command add_import_command(CLI::App& program) {
  const auto options = std::make_shared<ImportOptions>();
  CLI::App* const parser =
      program.add_subcommand("import", "store events from JSONL, all verified");
  parser->add_option("--store", options->store_path, "the store's folder")->required();
  parser->add_option("FILE", options->file, "JSONL; standard input without it");
  parser->add_option("--shards", options->shards, "for a new store; default: one for each core");
  parser->add_flag("--protected", options->accepts_protected,
                   "take protected events (NIP-70) too, as for a backup of your own");
  parser->add_option("--relay-url", options->relay_urls,
                     "requests to vanish (NIP-62) that name this URL take effect");
  parser->add_option("--line-bytes-max", options->line_bytes_max, "longer lines are refused")
      ->capture_default_str()
      ->check(CLI::Range(1024u, kMessageBytesMax));
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

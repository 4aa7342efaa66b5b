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
  gyre scan --store DIR --filter '{"kinds":[1]}' --filter '{"#t":["nostr"]}' > both.jsonl
  gyre scan --store DIR --dead --where | jq 'select(.dead)'   what died and is still on the disk
  gyre scan --store DIR --newest-first --limit 10             what was stored last, shard by shard

Differs from `gyre export`, which is for moving events: the order is the one of storing, dead
events come too if they are asked for, and nothing is verified.)";

int run(const ScanOptions& options) {
  catch_interrupts();
  const auto count = run_scan(options);
  if (!count.ok()) return report(count.status());
  if (options.counts_only) {
    std::printf("%" PRIu64 "\n", *count);
  } else {
    std::fprintf(stderr, "%" PRIu64 " events\n", *count);
  }
  return 0;
}

}  // namespace

Command add_scan_command(CLI::App& program) {
  const auto options = std::make_shared<ScanOptions>();
  CLI::App* const parser =
      program.add_subcommand("scan", "write events as they lie in the store, as JSONL");
  parser->add_option("--store", options->store_path, "the store's folder")->required();
  parser->add_option("--filter", options->filters, "a NIP-01 filter as JSON; any of several")
      ->allow_extra_args(false);
  parser->add_option("--limit", options->limit, "end after so many events");
  parser->add_flag("--count", options->counts_only, "print only how many there are");
  parser->add_flag_callback(
      "--dead", [options] { options->dead = DeadEvents::kIncluded; },
      "replaced, deleted and expired events too");
  parser->add_flag("--where", options->shows_where,
                   "each event inside an object with shard, sequence, segment, offset and dead");
  parser->add_flag_callback(
      "--newest-first", [options] { options->order = StoredOrder::kNewestStoredFirst; },
      "what was stored last comes first (within a shard)");
  parser->add_option("FILE", options->file, "standard output without it");
  parser->footer(kExamples);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

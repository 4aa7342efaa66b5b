#include <cinttypes>
#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/interrupt.h"
#include "app/quantity_text.h"
#include "app/store_reshard.h"
#include "gyre/base/ids.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre reshard --store /var/lib/gyre --shards 8 --to /var/lib/gyre-8
  mv /var/lib/gyre /var/lib/gyre-old && mv /var/lib/gyre-8 /var/lib/gyre

Stop the relay first. The old store is not changed; remove it when the new one serves. With the
number of shards that it has already, this is a complete compaction.)";

int run(const ReshardOptions& options) {
  catch_interrupts();
  const auto done = run_reshard(options);
  if (absl::IsCancelled(done.status())) {
    std::fprintf(stderr, "interrupted; %s.unfinished is no complete store and may be removed\n",
                 options.to.c_str());
    return 130;
  }
  if (!done.ok()) return report(done.status());
  std::printf("%s events; %s dead ones remembered, %s left behind; %s\n",
              count_text(done->events).c_str(), count_text(done->remembered).c_str(),
              count_text(done->dropped).c_str(), seconds_text(done->seconds).c_str());
  for (const auto& [reason, count] : done->refused) {
    std::printf("  %8" PRIu64 "  left out: %s\n", count, reason.c_str());
  }
  return 0;
}

}  // namespace

Command add_reshard_command(CLI::App& program) {
  const auto options = std::make_shared<ReshardOptions>();
  CLI::App* const parser =
      program.add_subcommand("reshard", "make a new store with another number of shards");
  parser->add_option("--store", options->store_path, "the store's folder")->required();
  parser->add_option("--shards", options->shards, "of the new store; best one for each core")
      ->required()
      ->check(CLI::Range(1u, kShardsMax));
  parser->add_option("--to", options->to, "folder of the new store; it must not exist")->required();
  parser->footer(kExamples);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

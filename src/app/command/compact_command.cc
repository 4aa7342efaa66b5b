#include <cinttypes>
#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/compact.h"

namespace gyre::app {
namespace {

int run(const CompactOptions& options) {
  const auto result = run_compact(options);
  if (!result.ok()) return report(result.status());
  constexpr double kMib = 1024 * 1024;
  const auto before = static_cast<double>(result->bytes_before) / kMib;
  const auto after = static_cast<double>(result->bytes_after) / kMib;
  std::printf("%.1f MiB before, %.1f MiB after; %" PRIu64 " segments written anew%s\n", before,
              after, result->segments,
              result->was_interrupted ? " (interrupted; run it again to go on)" : "");
  if (result->untouched > 0) {
    return report(absl::UnavailableError("could not compact everything (" +
                                         std::to_string(result->untouched) +
                                         " failures); see the lines above"));
  }
  return result->was_interrupted ? 130 : 0;
}

}  // namespace

Command add_compact_command(CLI::App& program) {
  const auto options = std::make_shared<CompactOptions>();
  CLI::App* const parser = program.add_subcommand(
      "compact", "give back the space of replaced, deleted and expired events");
  parser
      ->add_option("--store", options->store_path, "the store's folder; no relay may have it open")
      ->required();
  parser->footer(R"(
A running relay does the same by itself where enough of a file is dead (store.compact_dead_percent);
this takes every file that has something to give back. It needs free space for one file of the log,
and can be interrupted and run again at any time.

Examples:
  gyre compact --store /var/lib/gyre
  systemctl stop gyre && gyre compact --store /var/lib/gyre && systemctl start gyre)");
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

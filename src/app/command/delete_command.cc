#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/interrupt.h"
#include "app/store_delete.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre delete --store DIR --filter '{"authors":["<pubkey>"]}' --dry-run   what would go
  gyre delete --store DIR --filter '{"kinds":[4],"until":1700000000}'     asks first
  gyre delete --store DIR --filter '{"ids":["<id>"]}' --yes               for scripts

Stop the relay first. Deleted events are gone for readers at once; compaction gives their space
back later. They may be published again: to keep an author out, refuse him in the configuration.)";

struct Options {
  DeleteOptions deletion;
  bool is_dry_run = false;
  bool is_confirmed = false;
};

bool is_confirmed_at_terminal(std::uint64_t count) {
  std::fprintf(stderr, "Delete %" PRIu64 " events? [y/N] ", count);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

int carry_out(StoreDeletion& deletion) {
  catch_interrupts();
  absl::Status status = deletion.carry_out();
  status.Update(deletion.close());
  std::printf("%" PRIu64 " events deleted%s\n", deletion.done(),
              absl::IsCancelled(status) ? " (interrupted; run it again to go on)" : "");
  return report(status);
}

int run(const Options& options) {
  const auto deletion = StoreDeletion::open(options.deletion);
  if (!deletion.ok()) return report(deletion.status());
  const std::uint64_t count = (*deletion)->count();
  if (options.is_dry_run || !options.is_confirmed) {
    for (const std::string& event : (*deletion)->sample()) std::printf("%s\n", event.c_str());
    const std::uint64_t more = count - (*deletion)->sample().size();
    if (more > 0) std::printf("... and %" PRIu64 " more\n", more);
  }
  if (options.is_dry_run || count == 0) {
    std::printf("%" PRIu64 " events match; nothing is deleted\n", count);
    return report((*deletion)->close());
  }
  if (!options.is_confirmed) {
    if (isatty(STDIN_FILENO) != 1) {
      return report(absl::FailedPreconditionError(
          "nobody can be asked here; --yes deletes without asking, --dry-run only looks"));
    }
    if (!is_confirmed_at_terminal(count)) {
      std::printf("nothing is deleted\n");
      return report((*deletion)->close());
    }
  }
  return carry_out(**deletion);
}

}  // namespace

Command add_delete_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const parser = program.add_subcommand("delete", "delete events that match a filter");
  parser->add_option("--store", options->deletion.store_path, "the store's folder")->required();
  parser
      ->add_option("--filter", options->deletion.filters, "a NIP-01 filter as JSON; any of several")
      ->required()
      ->allow_extra_args(false);
  parser->add_flag("--dry-run", options->is_dry_run, "count and show a sample; change nothing");
  parser->add_flag("--yes", options->is_confirmed, "do not ask");
  parser->add_flag("--all", options->deletion.may_be_everything,
                   "allow a filter that matches every event");
  parser->footer(kExamples);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

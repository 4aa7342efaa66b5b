#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/interrupt.h"
#include "app/store_check.h"
#include "app/store_repair.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre check --store /var/lib/gyre            everything but signatures
  gyre check --store /var/lib/gyre --deep     signatures too
  gyre check --store /var/lib/gyre --shard 1  one shard only
  gyre check --store /var/lib/gyre --repair   and make whole what is damaged

Stop the relay first: the store must be at rest. Nothing is changed without --repair, and by it
nothing is deleted: originals are kept in a folder damaged-<date> of the shard, and what is lost is
listed in repair-<date>.txt of the store.
Exit code: 0 nothing is wrong (or not any more), 1 something is, 130 interrupted.)";

struct Options {
  CheckOptions check;
  bool is_repair = false;
};

int check(const CheckOptions& options) {
  const auto checked = run_check(options);
  if (!checked.ok()) return report(checked.status());
  std::fputs(check_text(*checked).c_str(), stdout);
  return checked->finding_count() == 0 ? 0 : 1;
}

int repair(const CheckOptions& options) {
  const auto repaired = run_repair(options);
  if (!repaired.ok()) return report(repaired.status());
  std::fputs(check_text(repaired->before).c_str(), stdout);
  if (repaired->before.finding_count() == 0) return 0;
  std::printf("\n%s\n%s\nAll of this stands in %s\n", repair_text(*repaired).c_str(),
              check_text(repaired->after).c_str(), repaired->path.c_str());
  return repaired->after.finding_count() == 0 ? 0 : 1;
}

int run(const Options& options) {
  catch_interrupts();
  return options.is_repair ? repair(options.check) : check(options.check);
}

}  // namespace

Command add_check_command(CLI::App& program) {
  const auto options = std::make_shared<Options>();
  CLI::App* const parser =
      program.add_subcommand("check", "read the whole store, say what is damaged, and repair it");
  parser->add_option("--store", options->check.store_path, "the store's folder")->required();
  parser->add_option("--shard", options->check.shard, "only this shard, from 0");
  parser->add_flag("--deep", options->check.verifies_signatures, "verify every signature too");
  parser->add_flag("--repair", options->is_repair, "salvage what can be read, keep the originals");
  parser->footer(kExamples);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

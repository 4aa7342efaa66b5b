#include <cstdio>
#include <memory>

#include "app/command/command.h"
#include "app/interrupt.h"
#include "app/quantity_text.h"
#include "app/store_backup.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre backup --store /var/lib/gyre --to /backup/gyre   the relay may be running
  gyre backup --store /var/lib/gyre --to /backup/gyre   again: copies only what has changed
  gyre check --store /backup/gyre                       is the copy sound?
  gyre relay --set store.path=/restored/gyre            a copy of the copy is a store

Everything that was acknowledged before the backup began is in it. To restore, copy the folder and
start a relay on that: a backup that has been used as a store can no longer be renewed.)";

int run(const BackupOptions& options) {
  catch_interrupts();
  const auto report_of = run_backup(options);
  if (absl::IsCancelled(report_of.status())) {
    std::fprintf(stderr, "interrupted; run it again to go on\n");
    return 130;
  }
  if (!report_of.ok()) return report(report_of.status());
  std::printf("%s records; %s copied, %s unchanged, in %s\n",
              count_text(report_of->records).c_str(), bytes_text(report_of->copied_bytes).c_str(),
              bytes_text(report_of->kept_bytes).c_str(), seconds_text(report_of->seconds).c_str());
  if (!report_of->has_index) {
    std::printf(
        "the index changed too fast to be copied: the first start on the copy makes it again from "
        "the log, which takes some seconds for each million events\n");
  }
  return 0;
}

}  // namespace

Command add_backup_command(CLI::App& program) {
  const auto options = std::make_shared<BackupOptions>();
  CLI::App* const parser =
      program.add_subcommand("backup", "copy a store, also under a running relay");
  parser->add_option("--store", options->store_path, "the store's folder")->required();
  parser->add_option("--to", options->to, "an empty folder, or an older backup of the same store")
      ->required();
  parser->footer(kExamples);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

// Command: one word of the command line, with its options. Each stands in a file of its own beside
// this one; main() knows the list. These files alone use exceptions, for CLI11.
#pragma once

#include <functional>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"

namespace gyre::app {

struct Command {
  CLI::App* parser;
  std::function<int()> run;  // The exit code. Called once the line is parsed, if it has the word.
};

// Prints an error as all commands do; the exit code: 130 for kCancelled (interrupted), as shells
// have it, 1 for all others.
int report(const absl::Status& status);

Command add_relay_command(CLI::App& program);
Command add_config_command(CLI::App& program);
Command add_import_command(CLI::App& program);
Command add_export_command(CLI::App& program);
Command add_scan_command(CLI::App& program);
Command add_count_command(CLI::App& program);
Command add_delete_command(CLI::App& program);
Command add_check_command(CLI::App& program);
Command add_backup_command(CLI::App& program);
Command add_stats_command(CLI::App& program);
Command add_reshard_command(CLI::App& program);
Command add_explain_command(CLI::App& program);
Command add_keygen_command(CLI::App& program);
Command add_convert_command(CLI::App& program);
Command add_event_command(CLI::App& program);
Command add_encrypt_command(CLI::App& program);
Command add_decrypt_command(CLI::App& program);
Command add_compact_command(CLI::App& program);

}  // namespace gyre::app

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "CLI/CLI.hpp"
#include "app/command/command.h"
#include "app/version.h"

namespace {

using namespace gyre::app;

constexpr char kExamples[] = R"(
Examples:
  gyre relay                                     serve on 127.0.0.1:7447 with the default store
  gyre relay --config /etc/gyre/gyre.toml        serve as the file says
  gyre relay --set net.listen=0.0.0.0:80 --set limits.connections=50000
  gyre config --defaults > gyre.toml             every key with its meaning and default
  gyre import --store /var/lib/gyre dump.jsonl   verify and store events, one JSON object a line
  gyre export --store /var/lib/gyre --filter '{"kinds":[0,3]}' > people.jsonl
  gyre explain --store /var/lib/gyre '{"kinds":[1],"limit":100}'  what answering that reads
  gyre compact --store /var/lib/gyre             give back the space of dead events
  gyre backup --store /var/lib/gyre --to /backup/gyre     also while the relay runs
  gyre check --store /backup/gyre                         is everything as it should be?)";

constexpr int kUsageError = 2;

// A closed standard stream would give its number to the next file that is opened, and what is
// printed would go into the store. In its place stands a file that refuses.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one, since those below are taken.
    const int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != stream) std::_Exit(kUsageError);
  }
}

// Output that is lost must not pass for success: it may be the only copy of a key.
int finish(int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  const int written = report(absl::UnavailableError(
      std::string("cannot write to standard output: ") + std::strerror(errno)));
  return exit_code == 0 ? written : exit_code;
}

// A whole nsec, or one with a slip in it; perhaps behind `--option=`.
bool looks_like_secret(std::string_view argument) {
  constexpr std::size_t kNsecChars = 63;
  if (argument.starts_with("--")) argument = argument.substr(argument.find('=') + 1);
  const bool has_prefix = argument.starts_with("nsec1") || argument.starts_with("NSEC1");
  return has_prefix && argument.size() > kNsecChars / 2;
}

// Before anything else looks at the arguments, since messages repeat what they do not understand.
bool has_secret(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, looks_like_secret);
}

}  // namespace

int gyre::app::report(const absl::Status& status) {
  if (status.ok()) return 0;
  std::fprintf(stderr, "gyre: %s\n", std::string(status.message()).c_str());
  return absl::IsCancelled(status) ? 130 : 1;
}

int main(int argc, char** argv) {
  occupy_standard_streams();
  CLI::App program("gyre: a Nostr relay for Linux servers");
  program.footer(kExamples);
  program.set_version_flag("--version", std::string("gyre ") + kVersion);
  program.require_subcommand(1);

  const Command commands[] = {
      add_relay_command(program),   add_config_command(program),  add_import_command(program),
      add_export_command(program),  add_scan_command(program),    add_count_command(program),
      add_explain_command(program), add_delete_command(program),  add_check_command(program),
      add_backup_command(program),  add_stats_command(program),   add_compact_command(program),
      add_reshard_command(program), add_keygen_command(program),  add_convert_command(program),
      add_event_command(program),   add_encrypt_command(program), add_decrypt_command(program),
  };

  if (has_secret(argc, argv)) {
    report(absl::InvalidArgumentError(
        "a secret key is not taken from the command line, where all users of this machine can see "
        "it; use --secret-file FILE (- is standard input) or GYRE_SECRET_KEY, and take it out of "
        "the shell's history"));
    return kUsageError;
  }
  try {
    program.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return finish(program.exit(error) == 0 ? 0 : kUsageError);
  }
  for (const Command& command : commands) {
    if (command.parser->parsed()) return finish(command.run());
  }
  return kUsageError;
}

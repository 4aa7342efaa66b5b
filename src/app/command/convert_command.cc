#include <cstdio>
#include <memory>
#include <string>

#include "app/command/command.h"
#include "app/command/secret_options.h"
#include "app/key_text.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre convert npub180cvv07tjdrrgpa0j7j7tmnyl2yr6yr7l8j4s3evf6u64th6gkwsyjh6w6
  gyre convert naddr1...                           author, identifier, kind and relays
  gyre convert --secret --secret-file key.txt      nsec, hex and the public key)";

struct ConvertOptions {
  std::string text;
  bool is_secret = false;
  std::string secret_file;
};

int convert_secret(const ConvertOptions& options) {
  if (!options.text.empty()) {
    return report(absl::InvalidArgumentError(
        "a secret key is not taken from the command line, where all users of this machine can see "
        "it; use --secret-file FILE (- is standard input) or GYRE_SECRET_KEY"));
  }
  const absl::StatusOr<nostr::SecretKey> key = read_secret_key(options.secret_file);
  if (!key.ok()) return report(key.status());
  std::string lines = secret_key_lines(*key);
  std::fputs(lines.c_str(), stdout);
  nostr::wipe(lines.data(), lines.size());
  return 0;
}

int run(const ConvertOptions& options) {
  if (options.is_secret) return convert_secret(options);
  if (options.text.empty()) {
    report(absl::InvalidArgumentError("give a key, id or pointer; see gyre convert --help"));
    return 2;
  }
  const absl::StatusOr<std::string> lines = entity_lines(options.text);
  if (!lines.ok()) return report(lines.status());
  std::fwrite(lines->data(), 1, lines->size(), stdout);
  return 0;
}

}  // namespace

Command add_convert_command(CLI::App& program) {
  const auto options = std::make_shared<ConvertOptions>();
  CLI::App* const parser =
      program.add_subcommand("convert", "show a key, id or pointer in all its forms");
  parser->footer(kExamples);
  parser->add_option("KEY", options->text,
                     "public key in hex, npub, note, nprofile, nevent or naddr");
  CLI::Option* const secret =
      parser->add_flag("--secret", options->is_secret, "a secret key instead");
  add_secret_option(*parser, options->secret_file)->needs(secret);
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

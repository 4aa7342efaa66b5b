#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "app/command/command.h"
#include "app/interrupt.h"
#include "app/key_text.h"
#include "app/progress.h"
#include "app/vanity_search.h"

namespace gyre::app {
namespace {

constexpr char kExamples[] = R"(
Examples:
  gyre keygen                          a new key, at once
  gyre keygen --begin gyre             an npub that begins with npub1gyre: about a million keys
  gyre keygen --contain n0str          the text anywhere in the npub
  gyre keygen --hex --end c0ffee       a public key that ends so in hex
The secret key is printed. Whoever sees it can sign in its name: send it to a file of your own.)";

// More than a few only wait for each other.
constexpr std::uint32_t kThreadsPerCoreMax = 4;

struct KeygenOptions {
  std::optional<std::string> begin;
  std::optional<std::string> contain;
  std::optional<std::string> end;
  bool is_hex = false;
  std::uint32_t threads = std::max(1u, std::thread::hardware_concurrency());
};

std::string duration_text(double seconds) {
  static constexpr struct {
    double seconds;
    const char* name;
  } kUnits[] = {{31'557'600, "years"}, {86'400, "days"}, {3'600, "h"}, {60, "min"}, {1, "s"}};
  for (const auto& unit : kUnits) {
    if (seconds < 1.5 * unit.seconds && unit.seconds > 1) continue;
    char text[64];
    std::snprintf(text, sizeof text, "%.3g %s", seconds / unit.seconds, unit.name);
    return text;
  }
  return "no time";
}

absl::StatusOr<VanityPattern> pattern_of(const KeygenOptions& options) {
  const VanityForm form = options.is_hex ? VanityForm::kHex : VanityForm::kNpub;
  if (options.begin) {
    return VanityPattern::make(*options.begin, form, VanityPosition::kBegin);
  }
  if (options.contain) {
    return VanityPattern::make(*options.contain, form, VanityPosition::kContain);
  }
  return VanityPattern::make(*options.end, form, VanityPosition::kEnd);
}

int print_key(const nostr::SecretKey& key) {
  std::string lines = secret_key_lines(key);
  std::fputs(lines.c_str(), stdout);
  nostr::wipe(lines.data(), lines.size());
  return 0;
}

int search(const KeygenOptions& options) {
  const absl::StatusOr<VanityPattern> pattern = pattern_of(options);
  if (!pattern.ok()) return report(pattern.status());
  catch_interrupts();
  Progress progress("keys", 0);
  const auto begin = std::chrono::steady_clock::now();
  VanitySearch search(*pattern);
  if (const absl::Status status = search.start(options.threads); !status.ok()) {
    return report(status);
  }
  while (!search.is_found() && !is_interrupted()) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
    const double rate = static_cast<double>(search.attempts()) / elapsed.count();
    // What is still to come does not depend on what was tried: each key has the same chance.
    const double expected_s = pattern->expected_attempts() / std::max(rate, 1.0);
    progress.update(search.attempts(), 0,
                    ", expected " + duration_text(expected_s) + " from any moment");
  }
  const std::optional<nostr::SecretKey> key = search.stop();
  progress.finish();
  if (key) return print_key(*key);
  std::fprintf(stderr, "gyre: stopped after %" PRIu64 " keys, none fits\n", search.attempts());
  return 130;
}

int run(const KeygenOptions& options) {
  if (options.begin || options.contain || options.end) {
    return search(options);
  }
  if (options.is_hex) {
    report(absl::InvalidArgumentError("--hex says how --begin, --contain or --end is meant"));
    return 2;
  }
  SystemRandom random;
  return print_key(nostr::SecretKey::generate(random));
}

}  // namespace

Command add_keygen_command(CLI::App& program) {
  const auto options = std::make_shared<KeygenOptions>();
  CLI::App* const parser =
      program.add_subcommand("keygen", "make a key, perhaps one that looks a certain way");
  parser->footer(kExamples);
  CLI::Option* const begin =
      parser->add_option("--begin", options->begin, "text right behind npub1");
  CLI::Option* const contain =
      parser->add_option("--contain", options->contain, "text anywhere behind npub1");
  CLI::Option* const end = parser->add_option("--end", options->end, "text at the end");
  begin->excludes(contain)->excludes(end);
  contain->excludes(end);
  parser->add_flag("--hex", options->is_hex, "the text is of the hex form, not of the npub");
  parser->add_option("--threads", options->threads, "default: one for each core")
      ->check(CLI::Range(1u, kThreadsPerCoreMax * options->threads))
      ->capture_default_str();
  return {parser, [options] { return run(*options); }};
}

}  // namespace gyre::app

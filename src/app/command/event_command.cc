#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/command/command.h"
#include "app/command/secret_options.h"
#include "app/input_file.h"
#include "gyre/base/clock.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/timestamp.h"

namespace gyre::app {
namespace {

using nostr::DecodeError;
using nostr::Event;

constexpr char kExamples[] = R"(
Examples:
  gyre event make --secret-file key.txt --content 'hello'
  gyre event make --secret-file key.txt --kind 7 --content + --tag e=5c83... --tag p=3bf0...
  gyre event make --secret-file key.txt --kind 30023 --tag '["d","post"]' --tag '["t","a","b"]'
  gyre event sign --secret-file key.txt < drafts.jsonl > events.jsonl
  gyre event verify < events.jsonl)";

struct EventOptions {
  std::string kind = "1";
  std::string content;
  std::vector<std::string> tags;
  std::optional<std::string> created_at;
  std::string secret_file;
  std::string file;
};

std::uint64_t now_s() {
  SystemClock clock;
  return static_cast<std::uint64_t>(clock.unix_s());
}

// name=value, or a JSON array of strings.
absl::Status add_tag(const std::string& text, Event& event) {
  if (text.starts_with('[')) {
    const DecodeError error = parse_tag(text, event.tags);
    if (error == DecodeError::kNone) return absl::OkStatus();
    return absl::InvalidArgumentError("--tag " + text + ": " + std::string(nostr::describe(error)));
  }
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || !nostr::is_valid_utf8(text)) {
    return absl::InvalidArgumentError("--tag " + text +
                                      ": write NAME=VALUE or a JSON array of strings");
  }
  event.tags.append({std::string_view(text).substr(0, equals), text.substr(equals + 1)});
  return absl::OkStatus();
}

absl::StatusOr<Event> event_of(const EventOptions& options) {
  Event event{.created_at = now_s(), .content = options.content};
  // Always decimal; with a leading zero others read it as octal.
  const char* const end = options.kind.data() + options.kind.size();
  const auto [read, error] = std::from_chars(options.kind.data(), end, event.kind);
  if (error != std::errc() || read != end) {
    return absl::InvalidArgumentError("--kind " + options.kind + ": give a number up to 65535");
  }
  if (!nostr::is_valid_utf8(options.content)) {
    return absl::InvalidArgumentError("--content is not valid UTF-8");
  }
  if (options.created_at) {
    const std::optional<std::uint64_t> time = nostr::parse_timestamp(*options.created_at);
    if (!time) {
      return absl::InvalidArgumentError(
          "--created-at " + *options.created_at +
          ": give seconds since 1970 or a date such as 2026-01-01 or 2026-01-01T12:00:00Z");
    }
    event.created_at = *time;
  }
  for (const std::string& tag : options.tags) {
    if (const absl::Status status = add_tag(tag, event); !status.ok()) return status;
  }
  return event;
}

void print_event(const Event& event) {
  std::string json;
  append_json(event, json);
  json += '\n';
  std::fwrite(json.data(), 1, json.size(), stdout);
}

int make_event(const EventOptions& options) {
  absl::StatusOr<Event> event = event_of(options);
  if (!event.ok()) return report(event.status());
  const absl::StatusOr<nostr::SecretKey> key = read_secret_key(options.secret_file);
  if (!key.ok()) return report(key.status());
  SystemRandom random;
  key->sign(*event, random);
  print_event(*event);
  return 0;
}

// What one line may cost of memory; no relay takes events as long as this.
constexpr std::size_t kLineBytesMax = 64 << 20;

// Calls handle(line number, line) for every line that is not empty.
template <typename Handle>
absl::Status for_each_line(const std::string& path, Handle handle) {
  const absl::StatusOr<InputFile> file = open_input(path);
  if (!file.ok()) return file.status();
  std::uint64_t number = 0;
  for (std::string line; read_line(file->get(), kLineBytesMax, line);) {
    ++number;
    if (line.size() > kLineBytesMax) {
      return absl::InvalidArgumentError("line " + std::to_string(number) + " has more than " +
                                        std::to_string(kLineBytesMax) + " bytes; stopped there");
    }
    if (line.find_first_not_of(" \t\r") != std::string::npos) handle(number, line);
  }
  return read_failure(file->get());
}

void complain(std::uint64_t line, std::string_view what) {
  std::fprintf(stderr, "gyre: line %" PRIu64 ": %.*s\n", line, static_cast<int>(what.size()),
               what.data());
}

int sign_events(const EventOptions& options) {
  if (options.secret_file == "-" && is_standard_input(options.file)) {
    return report(absl::InvalidArgumentError(
        "key and drafts cannot both come from standard input; name a FILE for one of them"));
  }
  const absl::StatusOr<nostr::SecretKey> key = read_secret_key(options.secret_file);
  if (!key.ok()) return report(key.status());
  SystemRandom random;
  std::uint64_t bad_count = 0;
  Event event;
  const absl::Status status =
      for_each_line(options.file, [&](std::uint64_t number, const std::string& line) {
        event.created_at = now_s();
        event.pubkey = key->public_key();
        const DecodeError error = parse_draft(line, event);
        if (error != DecodeError::kNone) {
          ++bad_count;
          complain(number, nostr::describe(error));
          return;
        }
        if (event.pubkey != key->public_key()) {
          ++bad_count;
          complain(number, "its pubkey is another one than the key's");
          return;
        }
        key->sign(event, random);
        print_event(event);
      });
  if (!status.ok()) return report(status);
  return bad_count == 0 ? 0 : 1;
}

int verify_events(const EventOptions& options) {
  std::uint64_t good_count = 0;
  std::uint64_t bad_count = 0;
  Event event;
  const auto refuse = [&](std::uint64_t number, std::string_view what) {
    ++bad_count;
    complain(number, what);
  };
  const absl::Status status =
      for_each_line(options.file, [&](std::uint64_t number, const std::string& line) {
        const DecodeError error = parse_event(line, event);
        if (error != DecodeError::kNone) {
          refuse(number, nostr::describe(error));
        } else if (!has_right_id(event)) {
          refuse(number, nostr::describe(DecodeError::kWrongId));
        } else if (!has_valid_signature(event)) {
          refuse(number, "the signature is not its author's");
        } else {
          ++good_count;
        }
      });
  if (!status.ok()) return report(status);
  std::printf("%" PRIu64 " valid, %" PRIu64 " invalid\n", good_count, bad_count);
  return bad_count == 0 ? 0 : 1;
}

}  // namespace

Command add_event_command(CLI::App& program) {
  const auto options = std::make_shared<EventOptions>();
  CLI::App* const parser = program.add_subcommand("event", "make, sign and verify events");
  parser->footer(kExamples);
  parser->require_subcommand(1);

  CLI::App* const make = parser->add_subcommand("make", "make and sign one event, print its JSON");
  make->add_option("--kind", options->kind, "0 to 65535")->capture_default_str();
  make->add_option("--content", options->content, "its text");
  make->add_option("--tag", options->tags, "NAME=VALUE or a JSON array; as often as needed")
      ->allow_extra_args(false);
  make->add_option("--created-at", options->created_at,
                   "seconds since 1970 or a date (UTC); default: now");
  add_secret_option(*make, options->secret_file);

  CLI::App* const sign = parser->add_subcommand(
      "sign",
      "sign drafts: JSON objects with kind and content at least, one a line; those without "
      "created_at are dated now");
  sign->add_option("FILE", options->file, "standard input without it");
  add_secret_option(*sign, options->secret_file);

  CLI::App* const verify =
      parser->add_subcommand("verify", "check ids and signatures of events, one a line");
  verify->add_option("FILE", options->file, "standard input without it");

  return {parser, [=] {
            if (make->parsed()) return make_event(*options);
            if (sign->parsed()) return sign_events(*options);
            return verify_events(*options);
          }};
}

}  // namespace gyre::app

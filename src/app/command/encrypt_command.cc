#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "app/command/command.h"
#include "app/command/secret_options.h"
#include "app/input_file.h"
#include "app/key_text.h"
#include "gyre/nostr/nip04.h"
#include "gyre/nostr/nip44.h"

namespace gyre::app {
namespace {

using nostr::DecodeError;

constexpr char kEncryptExamples[] = R"(
Examples:
  gyre encrypt --secret-file key.txt --to npub1... < letter.txt
  GYRE_SECRET_KEY=$(cat key.txt) gyre encrypt --to npub1... 'a short text'
NIP-44 version 2 takes texts of 1 to 65535 bytes.)";

constexpr char kDecryptExamples[] = R"(
Examples:
  gyre decrypt --secret-file key.txt --from npub1... < payload.txt
Payloads of NIP-44 and, with ?iv= in them, of NIP-04.)";

// More than the longest payload takes: that of NIP-04, four characters for three bytes.
constexpr std::size_t kInputBytesMax = 2 * nostr::kNip04TextBytesMax;

struct CryptOptions {
  std::string peer;
  std::optional<std::string> text;
  std::string secret_file;
  bool is_nip04 = false;
};

// The argument, or else standard input to its end.
absl::StatusOr<std::string> input_of(const CryptOptions& options) {
  if (options.text) return *options.text;
  if (options.secret_file == "-") {
    return absl::InvalidArgumentError(
        "key and text cannot both come from standard input; give the text as an argument");
  }
  return read_to_end(stdin, kInputBytesMax);
}

struct Parties {
  nostr::SecretKey own;
  Bytes32 peer;
};

absl::StatusOr<Parties> parties_of(const CryptOptions& options) {
  const absl::StatusOr<Bytes32> peer = parse_public_key(options.peer);
  if (!peer.ok()) return peer.status();
  absl::StatusOr<nostr::SecretKey> own = read_secret_key(options.secret_file);
  if (!own.ok()) return own.status();
  return Parties{*std::move(own), *peer};
}

absl::Status no_point(const std::string& peer) {
  return absl::InvalidArgumentError(peer + " is not the key of anybody (no point on the curve)");
}

absl::Status failure(const std::string& what, DecodeError error) {
  return absl::InvalidArgumentError(what + ": " + std::string(nostr::describe(error)));
}

absl::StatusOr<std::string> encrypted(const CryptOptions& options, const Parties& parties,
                                      const std::string& text) {
  SystemRandom random;
  std::string payload;
  DecodeError error = DecodeError::kNone;
  if (options.is_nip04) {
    std::optional<nostr::Nip04> cipher = nostr::Nip04::derive(parties.own, parties.peer);
    if (!cipher) return no_point(options.peer);
    error = cipher->encrypt(text, random, payload);
  } else {
    const auto key = nostr::ConversationKey::derive(parties.own, parties.peer);
    if (!key) return no_point(options.peer);
    error = nostr::Nip44().encrypt(*key, text, random, payload);
  }
  if (error != DecodeError::kNone) {
    return failure("a text of " + std::to_string(text.size()) +
                       " bytes cannot be encrypted (NIP-44 takes 1 to " +
                       std::to_string(nostr::kNip44TextBytesMax) + ", NIP-04 up to " +
                       std::to_string(nostr::kNip04TextBytesMax) + ")",
                   error);
  }
  return payload;
}

absl::StatusOr<std::string> decrypted(const CryptOptions& options, const Parties& parties,
                                      std::string payload) {
  constexpr std::string_view kBlanks = " \t\r\n";
  payload.erase(payload.find_last_not_of(kBlanks) + 1);
  payload.erase(0, payload.find_first_not_of(kBlanks));
  std::string text;
  DecodeError error = DecodeError::kNone;
  if (payload.find("?iv=") != std::string::npos) {
    std::optional<nostr::Nip04> cipher = nostr::Nip04::derive(parties.own, parties.peer);
    if (!cipher) return no_point(options.peer);
    error = cipher->decrypt(payload, text);
  } else {
    const auto key = nostr::ConversationKey::derive(parties.own, parties.peer);
    if (!key) return no_point(options.peer);
    error = nostr::Nip44().decrypt(*key, payload, text);
  }
  if (error != DecodeError::kNone) return failure("the payload cannot be decrypted", error);
  return text;
}

enum class Way { kEncrypt, kDecrypt };

int run(const CryptOptions& options, Way way) {
  const absl::StatusOr<Parties> parties = parties_of(options);
  if (!parties.ok()) return report(parties.status());
  const absl::StatusOr<std::string> input = input_of(options);
  if (!input.ok()) return report(input.status());
  const absl::StatusOr<std::string> output = way == Way::kEncrypt
                                                 ? encrypted(options, *parties, *input)
                                                 : decrypted(options, *parties, *input);
  if (!output.ok()) return report(output.status());
  std::fwrite(output->data(), 1, output->size(), stdout);
  // A payload is a line of text; what was decrypted comes out byte for byte.
  if (way == Way::kEncrypt) std::fputc('\n', stdout);
  return 0;
}

}  // namespace

Command add_encrypt_command(CLI::App& program) {
  const auto options = std::make_shared<CryptOptions>();
  CLI::App* const parser = program.add_subcommand("encrypt", "encrypt a text for one reader");
  parser->footer(kEncryptExamples);
  parser->add_option("--to", options->peer, "the reader's public key, hex or npub")->required();
  parser->add_option("TEXT", options->text, "standard input without it");
  parser->add_flag("--nip04", options->is_nip04,
                   "the old form, for readers that know no other; nothing protects it on the way");
  add_secret_option(*parser, options->secret_file);
  return {parser, [options] { return run(*options, Way::kEncrypt); }};
}

Command add_decrypt_command(CLI::App& program) {
  const auto options = std::make_shared<CryptOptions>();
  CLI::App* const parser = program.add_subcommand("decrypt", "decrypt what encrypt has made");
  parser->footer(kDecryptExamples);
  parser->add_option("--from", options->peer, "the writer's public key, hex or npub")->required();
  parser->add_option("PAYLOAD", options->text, "standard input without it");
  add_secret_option(*parser, options->secret_file);
  return {parser, [options] { return run(*options, Way::kDecrypt); }};
}

}  // namespace gyre::app

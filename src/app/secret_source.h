// Where a command takes a secret key from: a file, standard input or the environment. Never the
// command line: every user of the machine can read that (ps), and shells keep it.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::app {

inline constexpr char kSecretVariable[] = "GYRE_SECRET_KEY";

// Reads the key, in hex or as nsec or as `gyre keygen` prints it, from `file` ("-": standard input,
// without echo if it is a terminal), or from the environment variable above if `file` is empty.
// Warns on standard error of a file that others may read.
[[nodiscard]] absl::StatusOr<nostr::SecretKey> read_secret_key(const std::string& file);

}  // namespace gyre::app

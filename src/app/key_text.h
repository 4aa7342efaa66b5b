// Keys, ids and pointers as people write them, in all forms that they have.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "gyre/base/bytes.h"
#include "gyre/nostr/secret_key.h"

namespace gyre::app {

// Somebody else's text, on one line and without power over the terminal: control characters (C0,
// DEL, and C1 in its two bytes of UTF-8) and the backslash are escaped as in JSON.
[[nodiscard]] std::string harmless(std::string_view text);

// A public key in hex, as npub or as nprofile. The message names what was given and the cure.
[[nodiscard]] absl::StatusOr<Bytes32> parse_public_key(std::string_view text);

// Four lines: secret in hex, nsec, public in hex, npub. The caller wipes them.
[[nodiscard]] std::string secret_key_lines(const nostr::SecretKey& key);

// What is told by any text of NIP-19 but nsec, or by a public key in hex, a line for each form and
// each part.
[[nodiscard]] absl::StatusOr<std::string> entity_lines(std::string_view text);

}  // namespace gyre::app

// Refusals: what a peer did that we do not accept, as a value.
//
// Every refusal carries one of the machine-readable words of NIP-01 and NIP-42 and a text with
// static storage, so that refusing allocates nothing. Start-up and tools use absl::Status instead.
#pragma once

#include <cstdint>
#include <string_view>

namespace gyre {

enum class Prefix : std::uint8_t {
  kNone,          // OK true with an empty text.
  kDuplicate,     // Known already, or older than the stored version.
  kPow,           // Too little proof of work.
  kBlocked,       // Banned, deleted or vanished.
  kRateLimited,   // Over a limit; try later.
  kInvalid,       // Malformed or unverifiable.
  kRestricted,    // Logged in, not entitled.
  kMute,          // Ephemeral, and nobody listened.
  kError,         // The relay's own trouble; retrying is sensible.
  kAuthRequired,  // NIP-42 login needed first.
  kUnsupported,   // A feature that is off or unknown.
};

// The word before the colon, for example "invalid"; empty for kNone.
[[nodiscard]] std::string_view prefix_word(Prefix prefix);

// Prints as "<prefix_word>: <text>". `text` needs no JSON escaping and lives for ever.
struct Refusal {
  Prefix prefix = Prefix::kNone;
  std::string_view text;
};

}  // namespace gyre

// Relay messages as text, appended to a buffer of the caller. Arguments named `*_escaped` are
// canonically escaped already (ClientMessage gives them so); refusal texts need no escaping.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gyre/base/error.h"

namespace gyre::nostr {

// ["OK","<id>",true|false,"<prefix>: <text>"]; kNone gives "".
void append_ok(std::string& out, std::string_view id_escaped, bool accepted, Refusal refusal);
// ["EOSE","<subscription>"], and behind it ["finish"] or ["more"] if there is such a hint: all
// stored matches were sent, or there are others (NIP-67).
enum class EoseHint : std::uint8_t { kNone, kFinish, kMore };
void append_eose(std::string& out, std::string_view subscription_escaped, EoseHint hint);
// ["CLOSED","<subscription>","<prefix>: <text>"]
void append_closed(std::string& out, std::string_view subscription_escaped, Refusal refusal);
// ["NOTICE","<prefix>: <text>"]
void append_notice(std::string& out, Refusal refusal);
// ["AUTH","<challenge>"]
void append_auth(std::string& out, std::string_view challenge);
// ["COUNT","<query>",{"count":<n>}]
void append_count(std::string& out, std::string_view query_escaped, std::uint64_t count);

// An EVENT message is prefix + the event's JSON + "]".
// ["EVENT","<subscription>",
void append_event_prefix(std::string& out, std::string_view subscription_escaped);
[[nodiscard]] constexpr std::size_t event_prefix_bytes(std::size_t subscription_bytes) {
  return 12 + subscription_bytes;  // ["EVENT"," and ",
}
inline constexpr std::string_view kEventSuffix = "]";

}  // namespace gyre::nostr

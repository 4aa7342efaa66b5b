#include "gyre/nostr/relay_message.h"

#include <charconv>

namespace gyre::nostr {
namespace {

// "<prefix>: <text>"] or ""] for kNone.
void append_refusal_and_end(std::string& out, Refusal refusal) {
  out += '"';
  if (refusal.prefix != Prefix::kNone) {
    out += prefix_word(refusal.prefix);
    out += ": ";
    out += refusal.text;
  }
  out += "\"]";
}

}  // namespace

void append_ok(std::string& out, std::string_view id_escaped, bool accepted, Refusal refusal) {
  out += "[\"OK\",\"";
  out += id_escaped;
  out += accepted ? "\",true," : "\",false,";
  append_refusal_and_end(out, refusal);
}

void append_eose(std::string& out, std::string_view subscription_escaped, EoseHint hint) {
  out += "[\"EOSE\",\"";
  out += subscription_escaped;
  switch (hint) {
    case EoseHint::kNone: out += "\"]"; break;
    case EoseHint::kFinish: out += "\",[\"finish\"]]"; break;
    case EoseHint::kMore: out += "\",[\"more\"]]"; break;
  }
}

void append_closed(std::string& out, std::string_view subscription_escaped, Refusal refusal) {
  out += "[\"CLOSED\",\"";
  out += subscription_escaped;
  out += "\",";
  append_refusal_and_end(out, refusal);
}

void append_notice(std::string& out, Refusal refusal) {
  out += "[\"NOTICE\",";
  append_refusal_and_end(out, refusal);
}

void append_auth(std::string& out, std::string_view challenge) {
  out += "[\"AUTH\",\"";
  out += challenge;
  out += "\"]";
}

void append_count(std::string& out, std::string_view query_escaped, std::uint64_t count) {
  char digits[20];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, count);
  out += "[\"COUNT\",\"";
  out += query_escaped;
  out += "\",{\"count\":";
  out.append(digits, static_cast<std::size_t>(end.ptr - digits));
  out += "}]";
}

void append_event_prefix(std::string& out, std::string_view subscription_escaped) {
  out += "[\"EVENT\",\"";
  out += subscription_escaped;
  out += "\",";
}

}  // namespace gyre::nostr

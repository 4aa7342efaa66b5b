// Envelope: one message between client and relay (NIP-01, 42, 45), in either direction, for
// programs that speak to relays. (The relay itself reads with client_message.h.)
//
// An envelope that is read into again keeps its memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/event_filter.h"

namespace gyre::nostr {

enum class EnvelopeKind : std::uint8_t {
  kEvent,              // ["EVENT",{...}]                event
  kSubscriptionEvent,  // ["EVENT","sub",{...}]          subscription_id, event
  kReq,                // ["REQ","sub",{...},...]        subscription_id, filters
  kClose,              // ["CLOSE","sub"]                subscription_id
  kClosed,             // ["CLOSED","sub","text"]        subscription_id, text
  kEose,               // ["EOSE","sub"]                 subscription_id
  kOk,                 // ["OK","<id>",true,"text"]      event_id, is_accepted, text
  kNotice,             // ["NOTICE","text"]              text
  kAuthChallenge,      // ["AUTH","challenge"]           text
  kAuth,               // ["AUTH",{...}]                 event
  kCount,              // ["COUNT","query",{...},...]    subscription_id, filters
  kCountResult,        // ["COUNT","query",{"count":n}]  subscription_id, count
};

struct Envelope {
  EnvelopeKind kind = EnvelopeKind::kNotice;
  std::string subscription_id;
  Event event;
  std::vector<EventFilter> filters;
  Bytes32 event_id;
  bool is_accepted = false;
  std::string text;
  std::uint64_t count = 0;
};

// Strict JSON; further elements behind the expected ones are ignored (nips.md 01-M03). A COUNT with
// an object that has a member named count is a result. Ids and signatures are not checked.
DecodeError parse_envelope(std::string_view json, Envelope& envelope);

// Minified. Takes of the envelope what its kind has.
void append_json(const Envelope& envelope, std::string& out);

}  // namespace gyre::nostr

// EventCheck: is a packed event what its JSON says, and is that a Nostr event with the right id?
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gyre/nostr/client_message.h"
#include "gyre/nostr/packed_event.h"
#include "gyre/nostr/verify.h"

namespace gyre::storage {

class EventCheck {
 public:
  enum class Depth : std::uint8_t { kId, kSignature };
  explicit EventCheck(Depth depth);

  // What is wrong with it; empty if nothing is.
  // Requires: PackedEventView::check() has accepted it.
  [[nodiscard]] std::string find_fault(nostr::PackedEventView event);

 private:
  nostr::MessageParser parser_;
  std::unique_ptr<nostr::SignatureVerifier> verifier_;  // Null unless signatures are verified.
  std::vector<char> text_;                              // The JSON and the parser's padding.
};

}  // namespace gyre::storage

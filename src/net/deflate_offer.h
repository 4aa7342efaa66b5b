// The negotiation of permessage-deflate (RFC 7692 7.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "gyre/net/http.h"

namespace gyre::net {

// What was agreed on. Neither side keeps its context from one message to the next: ours, because a
// compressed event is shared by connections; the client's, because keeping it would cost each
// connection a window of 32 KiB. The client may use the largest window.
struct DeflateAgreement {
  // The client's window for what we send has 2^server_window_bits bytes. 8 to 15.
  std::uint8_t server_window_bits = 15;

  [[nodiscard]] std::string to_header_value() const;
};

// Takes the first offer that is well-formed; nothing if there is none.
[[nodiscard]] std::optional<DeflateAgreement> negotiate_deflate(const HttpRequest& request);

}  // namespace gyre::net

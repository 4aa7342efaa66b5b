// Address: what an addressable event is found by, and the value of an "a" tag (NIP-01):
//
//     <kind>:<pubkey, 64 lower-case hex digits>:<d>
//
// The d part is everything behind the second colon; it may be empty and may hold colons itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"

namespace gyre::nostr {

struct Address {
  std::uint16_t kind = 0;
  Bytes32 pubkey;
  std::string_view d;  // Owned by somebody else.

  friend bool operator==(const Address&, const Address&) = default;
};

// `address.d` will point into `text`.
DecodeError parse_address(std::string_view text, Address& address);

[[nodiscard]] std::size_t address_bytes(const Address& address);
char* write_address(const Address& address, char* out);  // The end of what was written.
void append_address(const Address& address, std::string& out);

}  // namespace gyre::nostr

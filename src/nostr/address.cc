#include "gyre/nostr/address.h"

#include "nostr/json_number.h"
#include "nostr/json_output.h"

namespace gyre::nostr {

DecodeError parse_address(std::string_view text, Address& address) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return DecodeError::kTooShort;
  const std::string_view digits = text.substr(0, colon);
  const IntegerToken kind = parse_integer(digits);
  if (!kind.is_integer || kind.is_negative || !kind.fits || kind.magnitude > 0xffff ||
      kind.digits != digits) {
    return DecodeError::kBadNumber;
  }
  const std::string_view rest = text.substr(colon + 1);
  if (rest.size() < 65) return DecodeError::kTooShort;
  if (rest[64] != ':' || !hex_decode(rest.substr(0, 64), address.pubkey.bytes.data())) {
    return DecodeError::kBadHex;
  }
  address.kind = static_cast<std::uint16_t>(kind.magnitude);
  address.d = rest.substr(65);
  return DecodeError::kNone;
}

std::size_t address_bytes(const Address& address) {
  return decimal_digits(address.kind) + 1 + 64 + 1 + address.d.size();
}

char* write_address(const Address& address, char* out) {
  JsonOutput output(out);
  output.put_number(address.kind);
  output.put(':');
  output.put_hex(address.pubkey.bytes);
  output.put(':');
  if (!address.d.empty()) output.put(address.d);
  return output.end();
}

void append_address(const Address& address, std::string& out) {
  append_bytes(out, address_bytes(address), [&](char* at) { return write_address(address, at); });
}

}  // namespace gyre::nostr

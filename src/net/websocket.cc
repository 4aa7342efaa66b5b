#include "gyre/net/websocket.h"

#include <algorithm>

#include "net/frame_header.h"

namespace gyre::net {

namespace {

constexpr std::size_t kControlBytesMax = 125;  // RFC 6455 5.5.
constexpr unsigned kFinal = 0x80;
constexpr unsigned kRsv1 = 0x40;  // Compressed, RFC 7692 6.

void append_control(std::string& out, Opcode opcode, std::string_view payload) {
  const std::string_view sent = payload.substr(0, kControlBytesMax);
  out.push_back(static_cast<char>(kFinal | static_cast<unsigned>(opcode)));
  out.push_back(static_cast<char>(sent.size()));
  out.append(sent);
}

std::string code_bytes(std::uint16_t code) {
  return {static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
}

// Cuts at a character, so that the reason stays valid UTF-8 (RFC 6455 5.5.1).
std::string_view cut_reason(std::string_view reason) {
  std::size_t size = std::min(reason.size(), kControlBytesMax - 2);
  while (size > 0 && size < reason.size() && (reason[size] & 0xc0) == 0x80) --size;
  return reason.substr(0, size);
}

}  // namespace

std::size_t encode_text_header(std::uint64_t payload_bytes, Encoding encoding, std::uint8_t* out) {
  const unsigned bits = encoding == Encoding::kDeflated ? kFinal | kRsv1 : kFinal;
  out[0] = static_cast<std::uint8_t>(bits | static_cast<unsigned>(Opcode::kText));
  std::size_t length_bytes = 0;
  if (payload_bytes <= 125) {
    out[1] = static_cast<std::uint8_t>(payload_bytes);
  } else if (payload_bytes <= 0xffff) {
    out[1] = 126;
    length_bytes = 2;
  } else {
    out[1] = 127;
    length_bytes = 8;
  }
  for (std::size_t index = 0; index < length_bytes; ++index) {
    const std::size_t shift = 8 * (length_bytes - 1 - index);
    out[2 + index] = static_cast<std::uint8_t>(payload_bytes >> shift);
  }
  return 2 + length_bytes;
}

void append_close_frame(std::string& out, CloseCode code, std::string_view reason) {
  append_control(out, Opcode::kClose,
                 code_bytes(static_cast<std::uint16_t>(code)).append(cut_reason(reason)));
}

void append_close_echo(std::string& out, std::uint16_t code) {
  append_control(out, Opcode::kClose, code == 1005 ? std::string() : code_bytes(code));
}

void append_ping_frame(std::string& out) { append_control(out, Opcode::kPing, {}); }

void append_pong_frame(std::string& out, std::string_view payload) {
  append_control(out, Opcode::kPong, payload);
}

}  // namespace gyre::net

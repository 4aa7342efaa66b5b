// The header of one client frame (RFC 6455 5.2), decoded by wslay.
//
// What peers send is checked by a library that others have tested for years; what we send are
// headers of 2, 4 or 10 bytes around sizes that we know, which websocket.cc writes by itself: a
// context of wslay's for each would cost more than all the rest of a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gyre::net {

inline constexpr std::size_t kClientHeaderBytesMax = 14;  // 2, 8 of length, 4 of mask.

enum class Opcode : std::uint8_t {
  kContinuation = 0x0,
  kText = 0x1,
  kBinary = 0x2,
  kClose = 0x8,
  kPing = 0x9,
  kPong = 0xa,
};

struct FrameHeader {
  Opcode opcode = Opcode::kContinuation;
  bool is_final = false;
  // RSV1: the message is compressed (RFC 7692 6). Set on the first frame of a message only.
  bool is_deflated = false;
  std::uint64_t payload_bytes = 0;
  std::uint32_t mask = 0;  // As it lies in memory: its first byte belongs to the first of payload.

  // Close, ping and pong: whole, small, and allowed between the fragments of a message.
  [[nodiscard]] bool is_control() const { return static_cast<std::uint8_t>(opcode) >= 0x8; }
};

// How many bytes the header has whose second byte is this one.
[[nodiscard]] std::size_t frame_header_bytes(std::uint8_t second);

// Decodes one whole header; nothing if it breaks the protocol whatever came before it: unmasked, a
// reserved bit (but RSV1 on a data frame that begins a message) or opcode, a control frame that is
// long or fragmented, a length that is not minimal or has its top bit set.
[[nodiscard]] std::optional<FrameHeader> decode_frame_header(std::span<const std::uint8_t> header);

}  // namespace gyre::net

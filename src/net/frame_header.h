// The header of one client frame (RFC 6455 5.2), decoded by wslay.
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
  std::uint64_t payload_bytes = 0;
  std::uint32_t mask = 0;  // As it lies in memory: its first byte belongs to the first of payload.

  // Close, ping and pong: whole, small, and allowed between the fragments of a message.
  [[nodiscard]] bool is_control() const { return static_cast<std::uint8_t>(opcode) >= 0x8; }
};

// How many bytes the header has whose second byte is this one.
[[nodiscard]] std::size_t frame_header_bytes(std::uint8_t second);

// Decodes one whole header; nothing if it breaks the protocol whatever came before it: unmasked, a
// reserved bit or opcode, a control frame that is long or fragmented, a length that is not minimal
// or has its top bit set.
[[nodiscard]] std::optional<FrameHeader> decode_frame_header(std::span<const std::uint8_t> header);

}  // namespace gyre::net

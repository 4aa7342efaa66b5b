// Frames as clients make them, and as they read ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::net::test {

inline constexpr std::uint8_t kContinuation = 0x0;
inline constexpr std::uint8_t kText = 0x1;
inline constexpr std::uint8_t kBinary = 0x2;
inline constexpr std::uint8_t kClose = 0x8;
inline constexpr std::uint8_t kPing = 0x9;
inline constexpr std::uint8_t kPong = 0xa;
inline constexpr std::uint8_t kFinal = 0x80;
inline constexpr std::uint8_t kDeflated = 0x40;  // RSV1, RFC 7692 6.

// `first` is the whole first byte: kFinal | kText.
[[nodiscard]] inline std::string client_frame(int first, std::string_view payload) {
  static constexpr std::string_view kMask = "\x37\xfa\x21\x3d";
  std::string frame(1, static_cast<char>(first));
  const std::size_t size = payload.size();
  const int length_bytes = size <= 125 ? 0 : size <= 0xffff ? 2 : 8;
  const int length = length_bytes == 0 ? static_cast<int>(size) : length_bytes == 2 ? 126 : 127;
  frame.push_back(static_cast<char>(0x80 | length));
  for (int shift = (length_bytes - 1) * 8; shift >= 0; shift -= 8) {
    frame.push_back(static_cast<char>(size >> shift));
  }
  frame.append(kMask);
  for (std::size_t index = 0; index < size; ++index) {
    frame.push_back(static_cast<char>(payload[index] ^ kMask[index % 4]));
  }
  return frame;
}

[[nodiscard]] inline std::string text_frame(std::string_view text) {
  return client_frame(kFinal | kText, text);
}

[[nodiscard]] inline std::string close_frame(std::uint16_t code) {
  return client_frame(kFinal | kClose,
                      std::string{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)});
}

struct ServerFrame {
  std::uint8_t opcode = 0;
  std::string payload;
  bool is_deflated = false;
  [[nodiscard]] int close_code() const {
    if (opcode != kClose || payload.size() < 2) return 0;
    return static_cast<std::uint8_t>(payload[0]) << 8 | static_cast<std::uint8_t>(payload[1]);
  }
};

// Strict: whole, final, unmasked frames only; anything else ends the list with opcode 0xff.
[[nodiscard]] inline std::vector<ServerFrame> server_frames(std::string_view bytes) {
  std::vector<ServerFrame> frames;
  const auto byte = [&](std::size_t index) { return static_cast<std::uint8_t>(bytes[index]); };
  while (!bytes.empty()) {
    const std::size_t extension = bytes.size() < 2 ? 0
                                  : byte(1) == 126 ? 2
                                  : byte(1) == 127 ? 8
                                                   : 0;
    const bool is_sound = bytes.size() >= 2 + extension &&
                          (byte(0) & 0xf0 & ~kDeflated) == kFinal && (byte(1) & 0x80) == 0;
    std::uint64_t size = is_sound ? byte(1) : 0;
    if (is_sound && extension > 0) size = 0;
    for (std::size_t index = 0; is_sound && index < extension; ++index) {
      size = size << 8 | byte(2 + index);
    }
    if (!is_sound || bytes.size() - 2 - extension < size) {
      frames.push_back({0xff, std::string(bytes), false});
      return frames;
    }
    const auto opcode = static_cast<std::uint8_t>(byte(0) & 0x0f);
    frames.push_back(
        {opcode, std::string(bytes.substr(2 + extension, size)), (byte(0) & kDeflated) != 0});
    bytes.remove_prefix(2 + extension + size);
  }
  return frames;
}

}  // namespace gyre::net::test

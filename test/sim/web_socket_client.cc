#include "sim/web_socket_client.h"

#include <array>
#include <utility>

namespace gyre::test {
namespace {

constexpr std::uint8_t kFinal = 0x80;
constexpr std::uint8_t kContinuation = 0;
constexpr std::uint8_t kText = 1;
constexpr std::uint8_t kBinary = 2;
constexpr std::uint8_t kClose = 8;
constexpr std::uint8_t kPing = 9;
constexpr std::uint8_t kPong = 10;

}  // namespace

std::string WebSocketClient::upgrade_request() {
  return "GET / HTTP/1.1\r\nHost: relay.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
         "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
}

std::string WebSocketClient::text_frames(std::string_view text) {
  std::string out;
  std::uint8_t opcode = kText;
  for (std::uint64_t pieces = random_.next_u64() % 3; pieces > 0; --pieces) {
    const std::size_t count = random_.next_u64() % (text.size() + 1);
    out += frame(std::exchange(opcode, kContinuation), text.substr(0, count));
    text.remove_prefix(count);
  }
  return out + frame(static_cast<std::uint8_t>(kFinal | opcode), text);
}

std::string WebSocketClient::binary_frame(std::string_view bytes) {
  return frame(kFinal | kBinary, bytes);
}

std::string WebSocketClient::close_frame(std::uint16_t code) {
  const std::array<char, 2> payload = {static_cast<char>(code >> 8), static_cast<char>(code)};
  return frame(kFinal | kClose, {payload.data(), payload.size()});
}

std::string WebSocketClient::frame(std::uint8_t first_byte, std::string_view payload) {
  std::string out(1, static_cast<char>(first_byte));
  const std::uint64_t size = payload.size();
  const unsigned length_bytes = size < 126 ? 0 : size < 65'536 ? 2 : 8;
  const std::uint64_t code = length_bytes == 0 ? size : length_bytes == 2 ? 126 : 127;
  out += static_cast<char>(0x80 | code);
  for (unsigned i = length_bytes; i > 0; --i) out += static_cast<char>(size >> (8 * (i - 1)));
  std::array<std::uint8_t, 4> mask;
  random_.fill(mask);
  out.append(reinterpret_cast<const char*>(mask.data()), mask.size());
  for (std::size_t i = 0; i < payload.size(); ++i) {
    out += static_cast<char>(static_cast<std::uint8_t>(payload[i]) ^ mask[i % 4]);
  }
  return out;
}

void WebSocketClient::receive(std::string_view bytes) {
  unread_ += bytes;
  if (!is_open_ && !take_upgrade()) return;
  while (take_frame()) {
  }
}

bool WebSocketClient::take_upgrade() {
  constexpr std::string_view kEnd = "\r\n\r\n";
  const std::size_t end = unread_.find(kEnd);
  if (end == std::string::npos) return false;
  const std::string head = unread_.substr(0, end + kEnd.size());
  unread_.erase(0, head.size());
  is_open_ = head.starts_with("HTTP/1.1 101 ") &&
             head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos;
  if (!is_open_) fault_ = "no upgrade: " + head;
  return is_open_;
}

bool WebSocketClient::take_frame() {
  if (unread_.size() < 2 || !fault_.empty()) return false;
  const auto byte = [this](std::size_t at) { return static_cast<std::uint8_t>(unread_[at]); };
  const std::uint8_t first = byte(0);
  const std::uint8_t code = byte(1);
  const std::size_t length_bytes = code < 126 ? 0 : code == 126 ? 2 : 8;
  if (unread_.size() < 2 + length_bytes) return false;
  std::uint64_t size = length_bytes == 0 ? code : 0;
  for (std::size_t i = 0; i < length_bytes; ++i) size = size << 8 | byte(2 + i);
  if ((code & 0x80) != 0 || (first & 0x70) != 0 || (first & kFinal) == 0) {
    fault_ = "a masked, extended or fragmented frame from the server";
    return false;
  }
  if (unread_.size() - 2 - length_bytes < size) return false;
  const std::string payload = unread_.substr(2 + length_bytes, size);
  unread_.erase(0, 2 + length_bytes + size);
  take_payload(first & 0x0f, payload);
  return true;
}

void WebSocketClient::take_payload(std::uint8_t opcode, std::string_view payload) {
  if (close_code_ != 0) {
    fault_ = "a frame behind the server's Close";
    return;
  }
  switch (opcode) {
    case kText: texts_.emplace_back(payload); break;
    case kPing: replies_ += frame(kFinal | kPong, payload); break;
    case kPong: break;
    case kClose:
      close_code_ = 1005;
      if (payload.size() >= 2) {
        close_code_ = static_cast<std::uint16_t>(static_cast<std::uint8_t>(payload[0]) << 8 |
                                                 static_cast<std::uint8_t>(payload[1]));
      }
      break;
    default: fault_ = "a frame of opcode " + std::to_string(opcode) + " from the server";
  }
}

}  // namespace gyre::test

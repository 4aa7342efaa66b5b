// WebSocketClient: the client's end of one WebSocket, bytes in and bytes out (RFC 6455).
//
// Strict about what a server may send: a 101 first, then whole unmasked frames. What is wrong with
// them is told by fault().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "gyre/base/random.h"

namespace gyre::test {

class WebSocketClient {
 public:
  explicit WebSocketClient(Random& random) : random_(random) {}

  [[nodiscard]] static std::string upgrade_request();
  // One message, masked, in one to three frames.
  [[nodiscard]] std::string text_frames(std::string_view text);
  [[nodiscard]] std::string binary_frame(std::string_view bytes);
  [[nodiscard]] std::string close_frame(std::uint16_t code);

  // Takes what the server sent; appends to texts() and replies().
  void receive(std::string_view bytes);

  [[nodiscard]] std::vector<std::string> take_texts() { return std::exchange(texts_, {}); }
  // Pongs that are to be sent.
  [[nodiscard]] std::string take_replies() { return std::exchange(replies_, {}); }
  [[nodiscard]] bool is_open() const { return is_open_; }
  // 0 until the server's Close has come.
  [[nodiscard]] std::uint16_t close_code() const { return close_code_; }
  [[nodiscard]] const std::string& fault() const { return fault_; }

 private:
  [[nodiscard]] std::string frame(std::uint8_t first_byte, std::string_view payload);
  [[nodiscard]] bool take_upgrade();
  [[nodiscard]] bool take_frame();
  void take_payload(std::uint8_t opcode, std::string_view payload);

  Random& random_;
  std::string unread_;
  std::vector<std::string> texts_;
  std::string replies_;
  bool is_open_ = false;
  std::uint16_t close_code_ = 0;
  std::string fault_;
};

}  // namespace gyre::test

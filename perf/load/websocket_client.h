// WebSocketClient: one connection to a relay, written for this tool alone, so that what it sees of
// a relay owes nothing to the relay's own code.
//
// Connecting and upgrading block; afterwards the socket is non-blocking and belongs to the caller's
// epoll loop. Only what a relay is expected to send is understood: text in whole frames, pings
// (answered), and Close. Anything else ends the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gyre::load {

struct RelayAddress {
  std::string host;  // An IPv4 address.
  std::uint16_t port = 0;
  std::string path;

  // From ws://HOST[:PORT][/PATH]. Ends the program if it is something else.
  static RelayAddress parse(std::string_view url);
};

class WebSocketClient {
 public:
  // `receive_buffer_bytes`: SO_RCVBUF, 0 for the kernel's own choice.
  explicit WebSocketClient(const RelayAddress& address, int receive_buffer_bytes = 0);
  ~WebSocketClient();
  WebSocketClient(WebSocketClient&& other) noexcept;
  WebSocketClient& operator=(WebSocketClient&&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] bool is_open() const { return is_open_; }

  // Queues one text message made of three parts.
  void queue(std::string_view head, std::string_view body = {}, std::string_view tail = {});
  // Sends what the kernel takes; true if something is left.
  bool flush();

  // Reads what the kernel has, up to `bytes_max`, and calls on_text(std::string_view) for every
  // message. The view lives until the call returns. False if the connection has ended.
  template <typename OnText>
  bool receive(OnText&& on_text, std::size_t bytes_max = 1 << 20) {
    const bool is_alive = fill(bytes_max);
    std::string_view text;
    while (next_text(text)) on_text(text);
    compact();
    return is_alive && is_open_;
  }

  [[nodiscard]] std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  void upgrade(const RelayAddress& address);
  bool fill(std::size_t bytes_max);
  bool next_text(std::string_view& text);
  void compact();
  void queue_frame(std::uint8_t first_byte, std::string_view head, std::string_view body,
                   std::string_view tail);

  int fd_ = -1;
  bool is_open_ = true;
  std::string out_;
  std::size_t out_sent_ = 0;
  std::string in_;
  std::size_t in_taken_ = 0;
  std::uint64_t received_bytes_ = 0;
};

}  // namespace gyre::load

#include "websocket_client.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <utility>

#include "failure.h"

namespace gyre::load {
namespace {

constexpr std::uint8_t kFinalText = 0x81;
constexpr std::uint8_t kFinalPong = 0x8a;
// The mask hides nothing; any fixed one that is not zero makes the relay do its work.
constexpr std::uint64_t kMask = 0x3d21fa373d21fa37;

void mask(char* bytes, std::size_t count) {
  std::size_t i = 0;
  for (; i + 8 <= count; i += 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes + i, 8);
    word ^= kMask;
    std::memcpy(bytes + i, &word, 8);
  }
  for (; i < count; ++i) {
    const auto key = static_cast<std::uint8_t>(kMask >> (8 * (i % 4)));
    bytes[i] = static_cast<char>(static_cast<std::uint8_t>(bytes[i]) ^ key);
  }
}

void append_length(std::string& out, std::uint64_t bytes) {
  // RFC 6455 5.2: 7 bits, or 126 and 16 bits, or 127 and 64 bits. 0x80: masked.
  if (bytes < 126) {
    out += static_cast<char>(0x80 | bytes);
    return;
  }
  const bool is_short = bytes < 65'536;
  out += static_cast<char>(0x80 | (is_short ? 126 : 127));
  for (int shift = is_short ? 8 : 56; shift >= 0; shift -= 8) {
    out += static_cast<char>(bytes >> shift & 0xff);
  }
}

}  // namespace

RelayAddress RelayAddress::parse(std::string_view url) {
  static constexpr std::string_view kScheme = "ws://";
  if (!url.starts_with(kScheme)) fail("the URL must begin with ws://");
  url.remove_prefix(kScheme.size());
  RelayAddress address;
  const std::size_t slash = url.find('/');
  address.path = slash == std::string_view::npos ? "/" : url.substr(slash);
  const std::string_view authority = url.substr(0, slash);
  const std::size_t colon = authority.find(':');
  address.host = authority.substr(0, colon);
  if (address.host == "localhost") address.host = "127.0.0.1";
  address.port = 80;
  if (colon != std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    const char* end = digits.data() + digits.size();
    if (std::from_chars(digits.data(), end, address.port).ptr != end) fail("bad port in the URL");
  }
  return address;
}

WebSocketClient::WebSocketClient(const RelayAddress& address, int receive_buffer_bytes) {
  fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd_ < 0) fail_errno("socket");
  if (receive_buffer_bytes > 0) {
    // Before connect, since the window is agreed there.
    setsockopt(fd_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  }
  sockaddr_in peer{};
  peer.sin_family = AF_INET;
  peer.sin_port = htons(address.port);
  if (inet_pton(AF_INET, address.host.c_str(), &peer.sin_addr) != 1) {
    fail("the URL's host must be an IPv4 address");
  }
  if (connect(fd_, reinterpret_cast<const sockaddr*>(&peer), sizeof peer) != 0) {
    fail_errno("connect");
  }
  const int on = 1;
  setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  upgrade(address);
  if (fcntl(fd_, F_SETFL, O_NONBLOCK) != 0) fail_errno("fcntl");
}

WebSocketClient::~WebSocketClient() {
  if (fd_ >= 0) close(fd_);
}

WebSocketClient::WebSocketClient(WebSocketClient&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      is_open_(other.is_open_),
      out_(std::move(other.out_)),
      out_sent_(other.out_sent_),
      in_(std::move(other.in_)),
      in_taken_(other.in_taken_),
      received_bytes_(other.received_bytes_) {}

void WebSocketClient::upgrade(const RelayAddress& address) {
  // The key of RFC 6455's example, whose answer is known.
  const std::string request = "GET " + address.path + " HTTP/1.1\r\nHost: " + address.host + ":" +
                              std::to_string(address.port) +
                              "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                              "Sec-WebSocket-Version: 13\r\n"
                              "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
  if (send(fd_, request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size())) {
    fail_errno("send of the upgrade");
  }
  std::size_t end = std::string::npos;
  while (end == std::string::npos) {
    char bytes[2048];
    const ssize_t count = recv(fd_, bytes, sizeof bytes, 0);
    if (count <= 0) fail("the relay ended the connection during the upgrade");
    in_.append(bytes, static_cast<std::size_t>(count));
    end = in_.find("\r\n\r\n");
  }
  if (!in_.starts_with("HTTP/1.1 101 ") || in_.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") > end) {
    fail("the upgrade was refused: " + in_.substr(0, in_.find('\r')));
  }
  in_taken_ = end + 4;
  compact();
}

void WebSocketClient::queue(std::string_view head, std::string_view body, std::string_view tail) {
  queue_frame(kFinalText, head, body, tail);
}

void WebSocketClient::queue_frame(std::uint8_t first_byte, std::string_view head,
                                  std::string_view body, std::string_view tail) {
  out_ += static_cast<char>(first_byte);
  append_length(out_, head.size() + body.size() + tail.size());
  out_.append(reinterpret_cast<const char*>(&kMask), 4);
  const std::size_t start = out_.size();
  out_.append(head).append(body).append(tail);
  mask(out_.data() + start, out_.size() - start);
}

bool WebSocketClient::flush() {
  while (out_sent_ < out_.size() && is_open_) {
    const ssize_t count = send(fd_, out_.data() + out_sent_, out_.size() - out_sent_, MSG_NOSIGNAL);
    if (count < 0) {
      if (errno == EAGAIN) return true;
      is_open_ = false;
      return false;
    }
    out_sent_ += static_cast<std::size_t>(count);
  }
  out_.clear();
  out_sent_ = 0;
  return false;
}

bool WebSocketClient::fill(std::size_t bytes_max) {
  // One for all connections: five thousand idle ones must not hold a buffer each.
  static char bytes[256 * 1024];
  std::size_t filled = 0;
  while (filled < bytes_max) {
    const ssize_t count = recv(fd_, bytes, sizeof bytes, 0);
    if (count < 0 && errno == EAGAIN) return true;
    if (count <= 0) {
      is_open_ = false;
      return false;
    }
    in_.append(bytes, static_cast<std::size_t>(count));
    filled += static_cast<std::size_t>(count);
    received_bytes_ += static_cast<std::uint64_t>(count);
    if (static_cast<std::size_t>(count) < sizeof bytes) return true;
  }
  return true;
}

bool WebSocketClient::next_text(std::string_view& text) {
  while (in_.size() - in_taken_ >= 2) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(in_.data()) + in_taken_;
    const std::size_t available = in_.size() - in_taken_;
    std::size_t head = 2;
    std::uint64_t size = bytes[1] & 0x7f;
    if (size >= 126) {
      const std::size_t length_bytes = size == 126 ? 2 : 8;
      head += length_bytes;
      if (available < head) return false;
      size = 0;
      for (std::size_t i = 0; i < length_bytes; ++i) size = size << 8 | bytes[2 + i];
    }
    if (available < head + size) return false;
    const std::string_view payload(in_.data() + in_taken_ + head, size);
    in_taken_ += head + size;
    switch (bytes[0]) {
      case kFinalText: text = payload; return true;
      case 0x89: {
        const std::string copy(payload);
        queue_frame(kFinalPong, copy, {}, {});
        flush();
        break;
      }
      case kFinalPong: break;
      case 0x88: is_open_ = false; return false;
      default: fail("a frame that no relay should send, first byte " + std::to_string(bytes[0]));
    }
  }
  return false;
}

void WebSocketClient::compact() {
  if (in_taken_ == 0) return;
  in_.erase(0, in_taken_);
  in_taken_ = 0;
}

}  // namespace gyre::load

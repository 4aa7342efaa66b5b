// WebSocket framing (RFC 6455) without sockets: bytes in, messages and control frames out.
//
// Frame headers are decoded by wslay's frame API. Payloads are unmasked in place, and a message
// that lies whole in the bytes given is handed on without a copy. State between frames is a few
// dozen bytes; memory for a message is held only while one is incomplete.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace gyre::net {

// Close codes of RFC 6455 7.4.1 that we send.
enum class CloseCode : std::uint16_t {
  kNormal = 1000,
  kGoingAway = 1001,
  kProtocolError = 1002,
  kInvalidText = 1007,
  kPolicy = 1008,
  kTooBig = 1009,
  kInternal = 1011,
  kTryAgainLater = 1013,
};

// Called by WebSocketReader::consume. Payloads live until the call returns.
class FrameHandler {
 public:
  virtual ~FrameHandler() = default;
  // A whole text message, valid UTF-8, followed by at least 64 readable bytes.
  // False stops consume() after this message (back-pressure).
  [[nodiscard]] virtual bool on_text(std::string_view text) = 0;
  [[nodiscard]] virtual bool on_binary() = 0;  // A whole binary message; its payload is dropped.
  virtual void on_ping(std::string_view payload) = 0;
  virtual void on_pong(std::string_view payload) = 0;
  virtual void on_close(std::uint16_t code) = 0;  // Valid Close; 1005 if it carried no code.
};

class Inflater;

class WebSocketReader {
 public:
  WebSocketReader() = default;

  enum class Outcome : std::uint8_t {
    kNeedMore,  // All bytes taken.
    kStopped,   // The handler asked to stop; `consumed` bytes are taken.
    kClosed,    // The peer's Close was taken; nothing behind it counts.
    kFailed,    // Close the connection with `failure`.
  };
  struct Result {
    Outcome outcome;
    std::size_t consumed;
    CloseCode failure;
  };

  // Takes bytes as they come, cut anywhere; may change them (unmasking). `message_bytes_max` bounds
  // the sum of a message's fragments and is checked on headers, before anything is stored.
  // At least 64 readable bytes must follow `bytes`.
  //
  // With an `inflater`, compressed messages (RFC 7692) are taken, each without the context of the
  // others; `message_bytes_max` bounds what they inflate to. Without one they break the protocol.
  [[nodiscard]] Result consume(std::span<std::uint8_t> bytes, std::uint32_t message_bytes_max,
                               FrameHandler& handler, Inflater* inflater = nullptr);

  // Heap bytes held for an incomplete message.
  [[nodiscard]] std::size_t held_bytes() const;

 private:
  struct Partial;  // What only an incomplete frame or message needs.
  struct PartialDeleter {
    void operator()(Partial* partial) const;
  };
  std::unique_ptr<Partial, PartialDeleter> partial_;
};

// Server frames: final, unmasked. Headers take 2, 4 or 10 bytes.
inline constexpr std::size_t kFrameHeaderBytesMax = 10;
enum class Encoding : std::uint8_t { kPlain, kDeflated };
[[nodiscard]] std::size_t encode_text_header(std::uint64_t payload_bytes, Encoding encoding,
                                             std::uint8_t* out);
void append_close_frame(std::string& out, CloseCode code, std::string_view reason);
void append_close_echo(std::string& out, std::uint16_t code);  // 1005: no payload.
void append_ping_frame(std::string& out);
void append_pong_frame(std::string& out, std::string_view payload);

}  // namespace gyre::net

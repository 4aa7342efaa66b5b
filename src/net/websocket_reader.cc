#include "gyre/net/websocket.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "simdjson.h"

#include "gyre/base/assert.h"
#include "net/frame_header.h"
#include "net/inflater.h"
#include "net/mask.h"
#include "net/padded_buffer.h"

namespace gyre::net {

namespace {

constexpr std::size_t kControlBytesMax = 125;

// What handling a frame, or a part of one, asks consume() to do.
struct Step {
  enum class Kind : std::uint8_t { kContinue, kStop, kClosed, kFailed };
  Kind kind = Kind::kContinue;
  CloseCode failure = CloseCode::kNormal;
};

Step failed(CloseCode code) { return {Step::Kind::kFailed, code}; }
Step continue_if(bool wanted) {
  return {wanted ? Step::Kind::kContinue : Step::Kind::kStop, CloseCode::kNormal};
}

std::string_view as_text(std::span<const std::uint8_t> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_utf8(std::span<const std::uint8_t> bytes) {
  const std::string_view text = as_text(bytes);
  return simdjson::validate_utf8(text.data(), text.size());
}

// RFC 6455 7.4: 1004 to 1006 and 1015 are never sent, 1016 to 2999 are not assigned. IANA has
// 1012 to 1014 registered; 3000 to 4999 belong to libraries and applications.
bool is_sendable(std::uint16_t code) {
  return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
         (code >= 3000 && code <= 4999);
}

// What a reader is called with.
struct Call {
  std::uint32_t message_bytes_max;
  FrameHandler& handler;
  Inflater* inflater;
};

Step deliver_text(std::span<const std::uint8_t> text, FrameHandler& handler) {
  if (!is_utf8(text)) return failed(CloseCode::kInvalidText);
  return continue_if(handler.on_text(as_text(text)));
}

Step deliver_deflated(std::span<const std::uint8_t> message, const Call& call) {
  const Inflater::Result result = call.inflater->inflate(message, call.message_bytes_max);
  switch (result.outcome) {
    case Inflater::Outcome::kTooBig: return failed(CloseCode::kTooBig);
    case Inflater::Outcome::kBroken: return failed(CloseCode::kInvalidText);
    case Inflater::Outcome::kDone: break;
  }
  return deliver_text(result.bytes, call.handler);
}

// Compressed, a message may be longer than it is: stored blocks take 5 bytes for each up to 65,535,
// and some compressors make them of 16 KiB. Whatever is longer than this inflates to too much, or
// is made to waste our time.
std::uint64_t frame_bytes_max(bool is_deflated, std::uint32_t message_bytes_max) {
  constexpr std::uint64_t kSpareBytes = 64;
  return message_bytes_max + (is_deflated ? message_bytes_max / 1024 + kSpareBytes : 0);
}

Step deliver_close(std::span<const std::uint8_t> payload, FrameHandler& handler) {
  std::uint16_t code = 1005;  // "No code", RFC 6455 7.1.5.
  if (payload.size() == 1) return failed(CloseCode::kProtocolError);
  if (payload.size() >= 2) {
    code = static_cast<std::uint16_t>(payload[0] << 8 | payload[1]);
    if (!is_sendable(code)) return failed(CloseCode::kProtocolError);
    if (!is_utf8(payload.subspan(2))) return failed(CloseCode::kInvalidText);
  }
  handler.on_close(code);
  return {Step::Kind::kClosed, CloseCode::kNormal};
}

// `payload` is unmasked.
Step deliver_control(Opcode opcode, std::span<const std::uint8_t> payload, FrameHandler& handler) {
  switch (opcode) {
    case Opcode::kPing: handler.on_ping(as_text(payload)); break;
    case Opcode::kPong: handler.on_pong(as_text(payload)); break;
    default: return deliver_close(payload, handler);
  }
  return {};
}

// A frame that is no part of anything else and lies whole in the bytes given: no copy.
Step deliver_whole(const FrameHeader& header, std::span<std::uint8_t> payload, const Call& call) {
  if (header.opcode == Opcode::kBinary) return continue_if(call.handler.on_binary());
  unmask(payload, header.mask);
  if (header.is_deflated) return deliver_deflated(payload, call);
  if (header.opcode == Opcode::kText) return deliver_text(payload, call.handler);
  return deliver_control(header.opcode, payload, call.handler);
}

}  // namespace

// What must be remembered while a header, a frame or a message is unfinished.
struct WebSocketReader::Partial {
  // The header being collected.
  std::array<std::uint8_t, kClientHeaderBytesMax> header;
  std::uint8_t header_bytes = 0;

  // The frame whose payload is being collected. `frame.mask` fits the next byte.
  bool has_frame = false;
  FrameHeader frame;
  std::uint64_t frame_bytes_left = 0;

  // The message whose fragments are being collected, its data so far, and what the headers of its
  // frames announced in all. Binary data is only counted.
  bool has_message = false;
  bool is_text = false;
  bool is_deflated = false;
  std::uint64_t announced_bytes = 0;
  PaddedBuffer text;

  std::array<std::uint8_t, kControlBytesMax> control;
  std::size_t control_bytes = 0;

  [[nodiscard]] bool is_idle() const { return header_bytes == 0 && !has_frame && !has_message; }

  // Takes the next header from the front of `bytes`, counting into `taken`; false if it is not
  // whole yet.
  bool take_header(std::span<const std::uint8_t> bytes, std::size_t& taken);
  void begin_frame(const FrameHeader& next);
  void take_payload(std::span<std::uint8_t> bytes);
  [[nodiscard]] Step end_frame(const Call& call);

  using Pointer = std::unique_ptr<Partial, PartialDeleter>;
  // Takes the next header, from `bytes` alone if it lies whole there; nothing if it is unfinished.
  // An invalid one sets `is_broken`.
  static std::optional<FrameHeader> next_header(Pointer& partial,
                                                std::span<const std::uint8_t> bytes,
                                                std::size_t& taken, bool& is_broken);
  // Checks `next` against the message in progress; protocol before size (nips.md T-06, T-08).
  [[nodiscard]] static Step check(const Partial* partial, const FrameHeader& next,
                                  const Call& call);
  // Takes one frame, or as much of it as there is.
  [[nodiscard]] static Step consume_frame(Pointer& partial, std::span<std::uint8_t> bytes,
                                          std::size_t& taken, const Call& call);
};

void WebSocketReader::PartialDeleter::operator()(Partial* partial) const { delete partial; }

bool WebSocketReader::Partial::take_header(std::span<const std::uint8_t> bytes,
                                           std::size_t& taken) {
  for (;;) {
    const std::size_t wanted = header_bytes < 2 ? 2 : frame_header_bytes(header[1]);
    if (header_bytes >= 2 && header_bytes == wanted) return true;
    const std::size_t count = std::min(wanted - header_bytes, bytes.size() - taken);
    if (count == 0) return false;
    std::memcpy(header.data() + header_bytes, bytes.data() + taken, count);
    header_bytes = static_cast<std::uint8_t>(header_bytes + count);
    taken += count;
  }
}

Step WebSocketReader::Partial::check(const Partial* partial, const FrameHeader& next,
                                     const Call& call) {
  if (next.is_control()) return {};
  if (next.is_deflated && call.inflater == nullptr) return failed(CloseCode::kProtocolError);
  const bool is_within_message = partial != nullptr && partial->has_message;
  if ((next.opcode == Opcode::kContinuation) != is_within_message) {
    return failed(CloseCode::kProtocolError);
  }
  // No overflow: what was announced before fits 32 bits, and a length has at most 63.
  const std::uint64_t before = is_within_message ? partial->announced_bytes : 0;
  const bool is_deflated = is_within_message ? partial->is_deflated : next.is_deflated;
  const std::uint64_t bytes_max = frame_bytes_max(is_deflated, call.message_bytes_max);
  if (before + next.payload_bytes > bytes_max) return failed(CloseCode::kTooBig);
  return {};
}

void WebSocketReader::Partial::begin_frame(const FrameHeader& next) {
  GYRE_ASSERT(!has_frame);
  has_frame = true;
  frame = next;
  frame_bytes_left = next.payload_bytes;
  header_bytes = 0;
  if (next.is_control()) {
    control_bytes = 0;
    return;
  }
  if (!has_message) {
    has_message = true;
    is_text = next.opcode == Opcode::kText;
    is_deflated = next.is_deflated;
    announced_bytes = 0;
  }
  announced_bytes += next.payload_bytes;
}

void WebSocketReader::Partial::take_payload(std::span<std::uint8_t> bytes) {
  GYRE_ASSERT_CMP(bytes.size(), <=, frame_bytes_left);
  if (frame.is_control()) {
    std::memcpy(control.data() + control_bytes, bytes.data(), bytes.size());
    unmask({control.data() + control_bytes, bytes.size()}, frame.mask);
    control_bytes += bytes.size();
  } else if (is_text) {
    unmask(text.append(bytes), frame.mask);
  }
  frame.mask = advance_mask(frame.mask, bytes.size());
  frame_bytes_left -= bytes.size();
}

Step WebSocketReader::Partial::end_frame(const Call& call) {
  GYRE_ASSERT_CMP(frame_bytes_left, ==, 0u);
  has_frame = false;
  if (frame.is_control()) {
    return deliver_control(frame.opcode, {control.data(), control_bytes}, call.handler);
  }
  if (!frame.is_final) return {};
  has_message = false;
  if (!is_text) return continue_if(call.handler.on_binary());
  if (text.held_bytes() == 0) text.append({});  // An empty message needs its padding too.
  const Step step = is_deflated ? deliver_deflated(text.unread(), call)
                                : deliver_text(text.unread(), call.handler);
  text.release();
  return step;
}

std::optional<FrameHeader> WebSocketReader::Partial::next_header(
    Pointer& partial, std::span<const std::uint8_t> bytes, std::size_t& taken, bool& is_broken) {
  std::optional<FrameHeader> header;
  const auto rest = bytes.subspan(taken);
  if ((!partial || partial->header_bytes == 0) && rest.size() >= 2 &&
      rest.size() >= frame_header_bytes(rest[1])) {
    const std::size_t size = frame_header_bytes(rest[1]);
    header = decode_frame_header(rest.first(size));
    taken += size;
  } else {
    if (!partial) partial.reset(new Partial);
    if (!partial->take_header(bytes, taken)) return std::nullopt;
    header = decode_frame_header({partial->header.data(), partial->header_bytes});
    partial->header_bytes = 0;
  }
  is_broken = !header.has_value();
  return header;
}

Step WebSocketReader::Partial::consume_frame(Pointer& partial, std::span<std::uint8_t> bytes,
                                             std::size_t& taken, const Call& call) {
  if (!partial || !partial->has_frame) {
    bool is_broken = false;
    const auto header = next_header(partial, bytes, taken, is_broken);
    if (is_broken) return failed(CloseCode::kProtocolError);
    if (!header) return {};
    const Step verdict = check(partial.get(), *header, call);
    if (verdict.kind != Step::Kind::kContinue) return verdict;
    const bool stands_alone =
        header->is_control() || (header->is_final && header->opcode != Opcode::kContinuation);
    if (stands_alone && header->payload_bytes <= bytes.size() - taken) {
      const auto payload = bytes.subspan(taken, header->payload_bytes);
      taken += payload.size();
      return deliver_whole(*header, payload, call);
    }
    if (!partial) partial.reset(new Partial);
    partial->begin_frame(*header);
  }
  const auto rest = bytes.subspan(taken);
  const auto part = rest.first(std::min<std::uint64_t>(partial->frame_bytes_left, rest.size()));
  partial->take_payload(part);
  taken += part.size();
  return partial->frame_bytes_left > 0 ? Step{} : partial->end_frame(call);
}

WebSocketReader::Result WebSocketReader::consume(std::span<std::uint8_t> bytes,
                                                 std::uint32_t message_bytes_max,
                                                 FrameHandler& handler, Inflater* inflater) {
  const Call call{message_bytes_max, handler, inflater};
  std::size_t taken = 0;
  while (taken < bytes.size()) {
    const Step step = Partial::consume_frame(partial_, bytes, taken, call);
    if (partial_ && partial_->is_idle()) partial_.reset();
    switch (step.kind) {
      case Step::Kind::kContinue: break;
      case Step::Kind::kStop: return {Outcome::kStopped, taken, CloseCode::kNormal};
      case Step::Kind::kClosed: return {Outcome::kClosed, taken, CloseCode::kNormal};
      case Step::Kind::kFailed: return {Outcome::kFailed, taken, step.failure};
    }
  }
  return {Outcome::kNeedMore, taken, CloseCode::kNormal};
}

std::size_t WebSocketReader::held_bytes() const {
  return partial_ ? sizeof(Partial) + partial_->text.held_bytes() : 0;
}

}  // namespace gyre::net

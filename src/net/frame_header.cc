#include "net/frame_header.h"

#include <wslay/wslay.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "gyre/base/assert.h"

namespace gyre::net {

namespace {

// What wslay is shown.
struct Source {
  std::span<const std::uint8_t> bytes;
};

ssize_t give_bytes(std::uint8_t* out, std::size_t room, int /*flags*/, void* user_data) {
  auto& source = *static_cast<Source*>(user_data);
  const std::size_t count = std::min(room, source.bytes.size());
  if (count == 0) return -1;
  std::memcpy(out, source.bytes.data(), count);
  source.bytes = source.bytes.subspan(count);
  return static_cast<ssize_t>(count);
}

bool is_known(std::uint8_t opcode) { return opcode <= 0x2 || (opcode >= 0x8 && opcode <= 0xa); }

// Reserved bits: none, or RSV1 where a message may say that it is compressed.
bool has_fit_bits(const wslay_frame_iocb& frame) {
  if (frame.rsv == 0) return true;
  const bool begins_message = frame.opcode == static_cast<std::uint8_t>(Opcode::kText) ||
                              frame.opcode == static_cast<std::uint8_t>(Opcode::kBinary);
  return frame.rsv == WSLAY_RSV1_BIT && begins_message;
}

// A context holds more than 4 KiB of buffer, so no connection can afford one of its own; and one
// that has begun a frame cannot be told to forget it. A fresh one for each header costs about 70
// ns.
std::optional<wslay_frame_iocb> decode_by_wslay(std::span<const std::uint8_t> bytes) {
  static constexpr wslay_frame_callbacks kCallbacks = {nullptr, &give_bytes, nullptr};
  Source source{bytes};
  wslay_frame_context_ptr context = nullptr;
  const int status = wslay_frame_context_init(&context, &kCallbacks, &source);
  GYRE_ASSERT_CMP(status, ==, 0);  // Fails for want of memory only.
  wslay_frame_iocb frame{};
  const ssize_t received = wslay_frame_recv(context, &frame);
  wslay_frame_context_free(context);
  if (received < 0) return std::nullopt;
  return frame;
}

}  // namespace

std::size_t frame_header_bytes(std::uint8_t second) {
  const std::uint8_t length = second & 0x7f;
  const std::size_t extension = length == 127 ? 8 : length == 126 ? 2 : 0;
  const std::size_t mask = (second & 0x80) != 0 ? 4 : 0;
  return 2 + extension + mask;
}

std::optional<FrameHeader> decode_frame_header(std::span<const std::uint8_t> header) {
  GYRE_ASSERT_CMP(header.size(), >=, 2u);
  GYRE_ASSERT_CMP(header.size(), <=, kClientHeaderBytesMax);
  // wslay reports a header together with the first payload there is, so it gets one byte more;
  // which one does not matter.
  std::array<std::uint8_t, kClientHeaderBytesMax + 1> shown{};
  std::memcpy(shown.data(), header.data(), header.size());
  const auto frame = decode_by_wslay({shown.data(), header.size() + 1});
  if (!frame || frame->mask == 0 || !is_known(frame->opcode) || !has_fit_bits(*frame)) {
    return std::nullopt;
  }
  FrameHeader decoded{.opcode = static_cast<Opcode>(frame->opcode),
                      .is_final = frame->fin != 0,
                      .is_deflated = frame->rsv != 0,
                      .payload_bytes = frame->payload_length};
  std::memcpy(&decoded.mask, header.data() + header.size() - sizeof decoded.mask,
              sizeof decoded.mask);
  return decoded;
}

}  // namespace gyre::net

// WebSocketReader: the same bytes, cut differently, must come to the same.
//
// The first byte of the input seeds the cuts, the second chooses the message limit; the rest is
// what the client sends, with compression agreed on or not. To reach past the header checks, frames
// are also made out of the input.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "gyre/base/assert.h"
#include "gyre/net/websocket.h"
#include "net/inflater.h"

namespace {

using gyre::net::FrameHandler;
using gyre::net::WebSocketReader;

// Everything the reader said, as text.
class Recorder final : public FrameHandler {
 public:
  bool on_text(std::string_view text) override {
    // The promise of readable bytes behind the text; a sanitizer checks the reads.
    for (std::size_t index = 0; index < 64; ++index) sum_ ^= text.data()[text.size() + index];
    return add('t', text);
  }
  bool on_binary() override { return add('b', {}); }
  void on_ping(std::string_view payload) override { (void)add('p', payload); }
  void on_pong(std::string_view payload) override { (void)add('q', payload); }
  void on_close(std::uint16_t code) override { (void)add('c', std::to_string(code)); }

  [[nodiscard]] bool add(char kind, std::string_view payload) {
    said.push_back(kind);
    said.append(std::to_string(payload.size())).append(":").append(payload);
    ++count_;
    return stops_every == 0 || count_ % stops_every != 0;
  }

  std::string said;
  unsigned stops_every = 0;

 private:
  unsigned count_ = 0;
  volatile char sum_ = 0;
};

// A linear congruential generator: cuts must depend on the input alone.
class Cuts {
 public:
  explicit Cuts(std::uint32_t seed) : state_(seed) {}
  std::size_t next() {
    state_ = state_ * 1'664'525u + 1'013'904'223u;
    return 1 + (state_ >> 16) % (1 + (state_ >> 8) % 64);
  }

 private:
  std::uint32_t state_;
};

// As a shard has it: one for all connections. Null where compression is not agreed on.
gyre::net::Inflater* inflater_for(std::uint32_t max) {
  static gyre::net::Inflater inflater;
  return max % 2 == 0 ? &inflater : nullptr;
}

template <typename NextSize>
std::string read_in_pieces(std::string_view bytes, std::uint32_t max, unsigned stops_every,
                           NextSize next_size) {
  WebSocketReader reader;
  Recorder recorder;
  recorder.stops_every = stops_every;
  while (!bytes.empty()) {
    const std::size_t size = std::min<std::size_t>(next_size(), bytes.size());
    const std::unique_ptr<std::uint8_t[]> block(new std::uint8_t[size + 64]());
    std::memcpy(block.get(), bytes.data(), size);
    const auto result = reader.consume({block.get(), size}, max, recorder, inflater_for(max));
    GYRE_ASSERT_CMP(result.consumed, <=, size);
    // Twice the data for growth, and what an unfinished frame needs.
    GYRE_ASSERT_CMP(reader.held_bytes(), <=, 2 * (std::size_t{max} + 512));
    switch (result.outcome) {
      case WebSocketReader::Outcome::kNeedMore: GYRE_ASSERT_CMP(result.consumed, ==, size); break;
      case WebSocketReader::Outcome::kStopped: GYRE_ASSERT_CMP(result.consumed, >, 0u); break;
      case WebSocketReader::Outcome::kClosed: return recorder.said + " closed";
      case WebSocketReader::Outcome::kFailed:
        return recorder.said + " failed " + std::to_string(static_cast<int>(result.failure));
    }
    bytes.remove_prefix(result.consumed);
  }
  return recorder.said;
}

// Takes the input as a list of frames: one byte of header, one of length, then the payload; all
// masked, and mostly valid.
std::string as_frames(std::string_view input) {
  static constexpr char kMask[4] = {0x37, -6, 0x21, 0x3d};
  std::string frames;
  while (input.size() >= 2) {
    const char first = input[0];
    std::size_t size = static_cast<std::uint8_t>(input[1]);
    input.remove_prefix(2);
    size = std::min(size, input.size());
    frames.push_back(static_cast<char>(first & 0xcf));
    if (size <= 125) {
      frames.push_back(static_cast<char>(0x80 | size));
    } else {
      frames.push_back(static_cast<char>(0x80 | 126));
      frames.push_back(0);
      frames.push_back(static_cast<char>(size));
    }
    frames.append(kMask, 4);
    for (std::size_t index = 0; index < size; ++index) {
      frames.push_back(static_cast<char>(input[index] ^ kMask[index % 4]));
    }
    input.remove_prefix(size);
  }
  return frames;
}

void check(std::string_view bytes, std::uint32_t max, std::uint32_t seed) {
  const std::string whole = read_in_pieces(bytes, max, 0, [] { return SIZE_MAX; });
  Cuts cuts(seed);
  const auto next_size = [&cuts] { return cuts.next(); };
  GYRE_ASSERT(read_in_pieces(bytes, max, 0, [] { return 1u; }) == whole);
  GYRE_ASSERT(read_in_pieces(bytes, max, 0, next_size) == whole);
  GYRE_ASSERT(read_in_pieces(bytes, max, 1 + seed % 3, next_size) == whole);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t seed = data[0];
  const std::uint32_t max = data[1] < 128 ? 1u << 16 : data[1];
  const std::string_view bytes(reinterpret_cast<const char*>(data + 2), size - 2);
  check(bytes, max, seed);
  check(as_frames(bytes), max, seed);
  return 0;
}

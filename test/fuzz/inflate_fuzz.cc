// Inflater: whatever comes must be told from a message, and the limit must hold to the byte.
//
// The first two bytes choose the limit; the rest is taken for a compressed message, and then for a
// text that is compressed and must come back.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/assert.h"
#include "net/deflater.h"
#include "net/inflater.h"

namespace {

using gyre::net::Deflater;
using gyre::net::Inflater;
using Outcome = Inflater::Outcome;

// One of each for all inputs, as a shard has them: nothing may be left from one message to the
// next.
Inflater& inflater() {
  static Inflater inflater;
  return inflater;
}

void check_message(std::span<const std::uint8_t> message, std::uint32_t max) {
  const Inflater::Result first = inflater().inflate(message, max);
  if (first.outcome != Outcome::kDone) return;
  GYRE_ASSERT_CMP(first.bytes.size(), <=, max);
  for (std::size_t i = 0; i < Inflater::kPaddingBytes; ++i) {
    GYRE_ASSERT_CMP(first.bytes.data()[first.bytes.size() + i], ==, 0);
  }
  const std::vector<std::uint8_t> text(first.bytes.begin(), first.bytes.end());
  const auto size = static_cast<std::uint32_t>(text.size());
  const Inflater::Result exact = inflater().inflate(message, size);
  GYRE_ASSERT(exact.outcome == Outcome::kDone);
  GYRE_ASSERT(std::ranges::equal(exact.bytes, text));
  if (size == 0) return;
  GYRE_ASSERT(inflater().inflate(message, size - 1).outcome == Outcome::kTooBig);
}

void check_round_trip(std::string_view body) {
  static Deflater deflater;
  const gyre::SharedBytes deflated = deflater.deflate(body);
  if (deflated.is_null()) return;
  const auto stored = Deflater::stored_header(1);
  std::string message(stored.data(), stored.size());
  message.append("<").append(gyre::as_text(deflated.span()));
  message.append(stored.data() + 1, stored.size() - 1).append(">").push_back('\0');
  const auto size = static_cast<std::uint32_t>(body.size() + 2);
  const Inflater::Result result = inflater().inflate(gyre::as_bytes(message), size);
  GYRE_ASSERT(result.outcome == Outcome::kDone);
  GYRE_ASSERT(gyre::as_text(result.bytes) == "<" + std::string(body) + ">");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint32_t max = static_cast<std::uint32_t>(data[0]) << 8 | data[1];
  check_message({data + 2, size - 2}, max);
  check_round_trip({reinterpret_cast<const char*>(data + 2), size - 2});
  return 0;
}

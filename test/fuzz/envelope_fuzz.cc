// A message in either direction. What is read and written again means the same.

#include <cstddef>
#include <cstdint>
#include <string>

#include "gyre/base/assert.h"
#include "gyre/nostr/envelope.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gyre::nostr;
  Envelope envelope;
  if (parse_envelope(gyre::as_text({data, size}), envelope) != DecodeError::kNone) return 0;
  std::string json;
  append_json(envelope, json);
  // Into one that has been used for something else.
  static Envelope back;
  GYRE_ASSERT(parse_envelope(json, back) == DecodeError::kNone);
  GYRE_ASSERT(back.kind == envelope.kind);
  std::string again;
  append_json(back, again);
  GYRE_ASSERT(again == json);
  return 0;
}

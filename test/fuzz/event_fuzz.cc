// An event in every form that it has. The input is taken as JSON and as bytes; what one reader
// takes must come back by all the others, and the relay's own parser must agree on JSON.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/event_binary.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/nson.h"
#include "gyre/nostr/verify.h"

namespace gyre::nostr {
namespace {

std::string json_of(const Event& event) {
  std::string out;
  append_json(event, out);
  GYRE_ASSERT_CMP(out.size(), ==, json_bytes(event));
  GYRE_ASSERT_CMP(estimate_json_bytes(event), <=, out.size());
  return out;
}

void check_forms(const Event& event) {
  Event back;
  GYRE_ASSERT(parse_event(json_of(event), back) == DecodeError::kNone);
  GYRE_ASSERT(back == event);

  std::vector<std::uint8_t> bytes;
  append_binary(event, bytes);
  GYRE_ASSERT_CMP(bytes.size(), ==, binary_bytes(event));
  GYRE_ASSERT(parse_binary(bytes, back) == DecodeError::kNone);
  GYRE_ASSERT(back == event);

  std::string canonical;
  append_canonical(event, canonical);
  GYRE_ASSERT_CMP(canonical.size(), ==, canonical_bytes(event));
  GYRE_ASSERT(sha256(as_bytes(canonical)) == compute_id(event));

  Event right = event;
  right.id = compute_id(event);
  std::string nson;
  if (append_nson(right, nson) != DecodeError::kNone) return;
  GYRE_ASSERT(parse_nson(nson, back) == DecodeError::kNone);
  GYRE_ASSERT(back == right);
  GYRE_ASSERT(parse_event(nson, back) == DecodeError::kNone);
  GYRE_ASSERT(back == right);
}

void check_text(std::string_view text) {
  static MessageParser parser{MessageLimits{}};
  Event event;
  const bool is_event = parse_event(text, event) == DecodeError::kNone;
  if (is_event) check_forms(event);
  if (!is_valid_utf8(text)) {
    GYRE_ASSERT(!is_event);
    return;
  }
  // The relay looks at the id and at expiration tags, too; otherwise both judge alike.
  std::string padded(text);
  padded.resize(text.size() + MessageParser::kPadding, ' ');
  const ClientMessage& message =
      parser.parse_event(std::string_view(padded).substr(0, text.size()));
  if (message.kind == MessageKind::kEvent) {
    GYRE_ASSERT(is_event);
    GYRE_ASSERT(json_of(event) == message.event.json());
  } else if (is_event && has_right_id(event)) {
    GYRE_ASSERT(event.tags.find("expiration") != event.tags.size());
  }
}

void check_bytes(ByteSpan bytes) {
  Event event;
  if (parse_binary(bytes, event) != DecodeError::kNone) return;
  std::vector<std::uint8_t> again;
  append_binary(event, again);
  GYRE_ASSERT(std::equal(bytes.begin(), bytes.end(), again.begin(), again.end()));
  check_forms(event);
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const gyre::ByteSpan bytes(data, size);
  gyre::nostr::check_text(gyre::as_text(bytes));
  gyre::nostr::check_bytes(bytes);
  return 0;
}

#include "storage/event_check.h"

#include <algorithm>

#include "gyre/nostr/json_text.h"
#include "storage/concat.h"

namespace gyre::storage {
namespace {

constexpr std::uint32_t kKeyCacheSlots = 16'384;

// An event may have come in under limits that were changed since. The shortest tag is [""].
nostr::MessageLimits no_limits() {
  nostr::MessageLimits limits;
  limits.message_bytes_max = nostr::kPackedJsonBytesMax;
  limits.event_tags_max = nostr::kPackedJsonBytesMax / 4;
  limits.content_chars_max = nostr::kPackedJsonBytesMax;
  return limits;
}

}  // namespace

EventCheck::EventCheck(Depth depth)
    : parser_(no_limits()),
      verifier_(depth == Depth::kSignature ? nostr::make_signature_verifier(kKeyCacheSlots)
                                           : nullptr) {}

std::string EventCheck::find_fault(nostr::PackedEventView event) {
  const std::string_view json = event.json();
  if (!nostr::is_valid_utf8(json)) return "its JSON is not UTF-8";
  text_.resize(std::max(text_.size(), json.size() + nostr::MessageParser::kPadding));
  std::copy(json.begin(), json.end(), text_.begin());
  const nostr::ClientMessage& message = parser_.parse_event({text_.data(), json.size()});
  if (message.kind != nostr::MessageKind::kEvent) {
    return concat("it is no event: ", message.refusal.text);
  }
  const ByteSpan packed = message.event.bytes();
  if (!std::ranges::equal(packed, event.bytes())) {
    return "its header does not say what its JSON says";
  }
  if (verifier_ == nullptr) return {};
  nostr::SignatureCheck check{event, false};
  verifier_->verify({&check, 1});
  return check.is_valid ? std::string() : "its signature does not verify";
}

}  // namespace gyre::storage

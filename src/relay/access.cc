#include "relay/access.h"

#include <algorithm>

#include "gyre/nostr/kind.h"

namespace gyre::relay {

bool is_gated(std::uint16_t kind, std::span<const std::uint16_t> gated_kinds) {
  const std::uint16_t asked = kind == nostr::kKindEphemeralGiftWrap ? nostr::kKindGiftWrap : kind;
  return std::binary_search(gated_kinds.begin(), gated_kinds.end(), asked) ||
         std::binary_search(gated_kinds.begin(), gated_kinds.end(), kind);
}

bool is_party(nostr::PackedEventView event, std::span<const Bytes32> viewers) {
  if (viewers.empty()) return false;
  const std::uint16_t kind = event.kind();
  const bool is_wrap = kind == nostr::kKindGiftWrap || kind == nostr::kKindEphemeralGiftWrap;
  if (!is_wrap) {
    const Bytes32 author = event.pubkey();
    if (std::find(viewers.begin(), viewers.end(), author) != viewers.end()) return true;
  }
  for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
    const nostr::TagEntry tag = event.tag(i);
    if (tag.letter() != 'p' || !tag.has_value() || tag.value_bytes != 64) continue;
    Bytes32 recipient;
    if (!hex_decode(event.tag_value(tag), recipient.bytes.data())) continue;
    if (std::find(viewers.begin(), viewers.end(), recipient) != viewers.end()) return true;
  }
  return false;
}

bool Access::may_read(nostr::PackedEventView event) const {
  return !is_gated(event.kind(), gated_kinds_) || is_party(event, viewers_);
}

bool wants_gated_only(const nostr::Filter& filter, std::span<const std::uint16_t> gated_kinds) {
  return filter.has_kinds() &&
         std::all_of(filter.kinds.begin(), filter.kinds.end(),
                     [&](std::uint16_t kind) { return is_gated(kind, gated_kinds); });
}

}  // namespace gyre::relay

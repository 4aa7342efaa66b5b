#include "gyre/nostr/filter.h"

#include <algorithm>

#include "gyre/nostr/kind.h"
#include "nostr/hex_words.h"

namespace gyre::nostr {
namespace {

bool contains(const std::vector<Bytes32>& keys, std::string_view hex) {
  const Bytes32 key = decode_hex32(hex);
  // Most lists are short, and most keys differ from each other in their first bytes.
  if (keys.size() <= 8) return std::find(keys.begin(), keys.end(), key) != keys.end();
  return std::binary_search(keys.begin(), keys.end(), key);
}

bool contains(const std::vector<std::string>& values, std::string_view text) {
  if (values.size() == 1) return values.front() == text;
  return std::binary_search(values.begin(), values.end(), text);
}

bool matches_tag(const TagCondition& condition, PackedEventView event) {
  const std::uint32_t count = event.tag_count();
  bool has_address_tag = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const TagEntry entry = event.tag(i);
    if (entry.letter() != condition.letter) continue;
    if (entry.has_value() && contains(condition.values, event.tag_value(entry))) return true;
    has_address_tag = true;
  }
  // An addressable event whose first d tag is missing or bare has the address "", and is found by
  // it (nips.md 01-F05, 01-K04).
  if (condition.letter != 'd' || kind_class(event.kind()) != KindClass::kAddressable) return false;
  return (!has_address_tag || event.d_tag().empty()) && contains(condition.values, "");
}

}  // namespace

bool Filter::matches(PackedEventView event) const {
  if (matches_nothing) return false;
  const auto created_at = static_cast<std::int64_t>(event.created_at());
  if (created_at < since || created_at > until) return false;
  if (has_kinds() && !std::binary_search(kinds.begin(), kinds.end(), event.kind())) return false;
  if (has_authors() && !contains(authors, event.pubkey_hex())) return false;
  if (has_ids() && !contains(ids, event.id_hex())) return false;
  for (const TagCondition& condition : tags) {
    if (!matches_tag(condition, event)) return false;
  }
  return true;
}

}  // namespace gyre::nostr

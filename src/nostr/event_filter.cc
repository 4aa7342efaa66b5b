#include "gyre/nostr/event_filter.h"

#include <algorithm>
#include <cstring>

#include "gyre/nostr/kind.h"

namespace gyre::nostr {
namespace {

template <typename T>
void sort_values(std::vector<T>& values) {
  if (!std::is_sorted(values.begin(), values.end())) std::sort(values.begin(), values.end());
}

// The lists need not be sorted, so they are gone through; most are short.
bool contains(const FilterValues<Bytes32>& keys, const Bytes32& key) {
  std::uint64_t front;
  std::memcpy(&front, key.bytes.data(), sizeof front);
  for (const Bytes32& candidate : keys.values) {
    std::uint64_t other;
    std::memcpy(&other, candidate.bytes.data(), sizeof other);
    if (other == front && candidate == key) return true;
  }
  return false;
}

bool contains_value(TagView condition, std::string_view value) {
  for (std::size_t i = 1; i < condition.size(); ++i) {
    if (condition[i] == value) return true;
  }
  return false;
}

bool matches_tag(TagView condition, const Event& event) {
  const std::string_view name = condition.name();
  std::optional<std::string_view> address;
  for (const TagView tag : event.tags) {
    if (tag.name() != name) continue;
    if (tag.size() > 1 && contains_value(condition, tag[1])) return true;
    if (!address) address = tag.value();
  }
  // An addressable event whose first d tag is missing or bare has the address "", and is found by
  // it (nips.md 01-F05, 01-K04).
  if (name != "d" || kind_class(event.kind) != KindClass::kAddressable) return false;
  return address.value_or("").empty() && contains_value(condition, "");
}

}  // namespace

void EventFilter::clear() {
  ids.clear();
  authors.clear();
  kinds.clear();
  tags.clear();
  since.reset();
  until.reset();
  limit.reset();
  search.reset();
}

void sort(EventFilter& filter) {
  sort_values(filter.ids.values);
  sort_values(filter.authors.values);
  sort_values(filter.kinds.values);
  filter.tags.sort_values();
}

bool matches_ignoring_time(const EventFilter& filter, const Event& event) {
  if (filter.ids.is_present && !contains(filter.ids, event.id)) return false;
  if (filter.authors.is_present && !contains(filter.authors, event.pubkey)) return false;
  if (filter.kinds.is_present) {
    const std::vector<std::uint16_t>& kinds = filter.kinds.values;
    if (std::find(kinds.begin(), kinds.end(), event.kind) == kinds.end()) return false;
  }
  for (const TagView condition : filter.tags) {
    if (!matches_tag(condition, event)) return false;
  }
  return true;
}

bool matches(const EventFilter& filter, const Event& event) {
  const auto created_at = static_cast<std::int64_t>(event.created_at);
  if (filter.since && created_at < *filter.since) return false;
  if (filter.until && created_at > *filter.until) return false;
  return matches_ignoring_time(filter, event);
}

bool matches_any(std::span<const EventFilter> filters, const Event& event) {
  return std::any_of(filters.begin(), filters.end(),
                     [&](const EventFilter& filter) { return matches(filter, event); });
}

}  // namespace gyre::nostr

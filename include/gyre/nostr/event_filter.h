// EventFilter: one NIP-01 filter (and NIP-50 search) as a program writes and reads it, for events
// of event.h. Texts are unescaped.
//
// (The relay compiles filters to the form of filter.h, which matches packed events. Both answer
// alike.) A filter that is read into again allocates nothing once it has grown, but for a search of
// more than a few words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/tag_list.h"

namespace gyre::nostr {

// A member that is a list. One that is present and empty matches nothing (nips.md 01-F12).
template <typename T>
struct FilterValues {
  bool is_present = false;
  std::vector<T> values;

  FilterValues() = default;
  FilterValues(std::initializer_list<T> items) : is_present(true), values(items) {}
  void clear() {
    is_present = false;
    values.clear();
  }
  friend bool operator==(const FilterValues&, const FilterValues&) = default;
};

struct EventFilter {
  FilterValues<Bytes32> ids;
  FilterValues<Bytes32> authors;
  FilterValues<std::uint16_t> kinds;
  // "#t":["a","b"] is the tag ["t","a","b"]. Names are one letter a-z or A-Z, each at most once.
  TagList tags;
  std::optional<std::int64_t> since;  // Inclusive, like until.
  std::optional<std::int64_t> until;
  std::optional<std::uint64_t> limit;
  std::optional<std::string> search;  // NIP-50. Not part of matching.

  void clear();
  friend bool operator==(const EventFilter&, const EventFilter&) = default;
};

// One filter object. Strict like a relay should be: unknown members are errors, as ignoring them
// would widen the question; so are values of #e and #p that are no ids. Times are from -2^63 to
// 2^63 - 1, kBadNumber beyond (the relay takes up to 2^64 - 1, and no event has such).
DecodeError parse_filter(std::string_view json, EventFilter& filter);
// [{...},{...}]: replaces what `filters` holds.
DecodeError parse_filters(std::string_view json, std::vector<EventFilter>& filters);

// Puts all values in ascending order. Two filters that ask the same are written alike then.
void sort(EventFilter& filter);

// Minified JSON: ids, kinds, authors, tags by their letters, since, until, search, limit. Values in
// the order in which they stand. Exactly json_bytes(filter) bytes.
[[nodiscard]] std::size_t json_bytes(const EventFilter& filter);
char* write_json(const EventFilter& filter, char* out);  // The end of what was written.
void append_json(const EventFilter& filter, std::string& out);
[[nodiscard]] std::size_t json_bytes(std::span<const EventFilter> filters);
char* write_json(std::span<const EventFilter> filters, char* out);
void append_json(std::span<const EventFilter> filters, std::string& out);

// Whether the event is what the filter asks for; limit and search play no part.
[[nodiscard]] bool matches(const EventFilter& filter, const Event& event);
// The same whenever the event was made.
[[nodiscard]] bool matches_ignoring_time(const EventFilter& filter, const Event& event);
// True if one of them does.
[[nodiscard]] bool matches_any(std::span<const EventFilter> filters, const Event& event);

}  // namespace gyre::nostr

// The inputs of the published rows, as their authors describe them.
#pragma once

#include <string>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/event_filter.h"
#include "gyre/nostr/string_list.h"
#include "gyre/nostr/tag_list.h"

namespace gyre::perf {

// 32 bytes that differ with `number`.
[[nodiscard]] Bytes32 numbered_key(std::uint32_t number);
[[nodiscard]] std::string numbered_hex(std::uint32_t number);

// Signed; kind 1, tags t, e and p, about 150 characters with quotes, <, > and &.
[[nodiscard]] nostr::Event small_event();
// 20 t tags, 7 e tags, 50 lines of about 75 characters with quotes, tabs and backslashes.
[[nodiscard]] nostr::Event large_event();
// JSON of 650 bytes: what most events of a public relay are like.
[[nodiscard]] nostr::Event typical_event();

// 5 ids, 3 kinds, 3 authors, 3 tags (t, e, p), since, until, limit 100, search.
[[nodiscard]] nostr::EventFilter small_filter();
// 20 ids, 10 kinds, 15 authors, 78 tag values (a to z, three each), since, until, limit 1000,
// search.
[[nodiscard]] nostr::EventFilter complex_filter();
// Five filters, each like the small one.
[[nodiscard]] std::vector<nostr::EventFilter> filter_slice();

[[nodiscard]] nostr::TagList small_tag();   // One tag: e, hex.
[[nodiscard]] nostr::TagList large_tag();   // One tag: p, hex, url, three words.
[[nodiscard]] nostr::TagList small_tags();  // 5.
[[nodiscard]] nostr::TagList large_tags();  // 100: e, p, t in turn.

[[nodiscard]] std::string small_text();  // About 115 characters with some escapes.
[[nodiscard]] std::string large_text();  // 8192 bytes, 0 to 255 again and again.
[[nodiscard]] std::vector<Bytes32> keys(std::size_t count);
[[nodiscard]] nostr::StringList strings(std::size_t count);

}  // namespace gyre::perf

// A filter as the library reads it, against the relay's compiled form: both take the same texts and
// match the same events.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/event_filter.h"
#include "gyre/nostr/json_text.h"
#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

struct Sample {
  std::vector<std::uint8_t> packed;
  Event event;
};

// Events that filters have a chance to match.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = [] {
    const std::vector<test::EventDraft> drafts = {
        {.kind = 1, .tags = {{"t", "a"}, {"t", "b\"", "c"}, {"x"}}},
        {.key_index = 1, .created_at = 5, .kind = 30'023, .tags = {{"d", ""}, {"d", "late"}}},
        {.kind = 30'023},
        {.kind = 7, .tags = {{"d"}, {"T", "a"}}},
    };
    std::vector<Sample> made;
    for (const test::EventDraft& draft : drafts) {
      Sample& sample = made.emplace_back();
      sample.packed = test::pack_unsigned_event(draft);
      const DecodeError error = parse_event(test::unsigned_event(draft), sample.event);
      GYRE_ASSERT(error == DecodeError::kNone);
    }
    return made;
  }();
  return all;
}

bool is_beyond_relay(const EventFilter& filter) {
  return filter.search.has_value() || filter.tags.size() > MessageLimits{}.filter_tags_max ||
         filter.tags.item_count() > MessageLimits{}.filter_values_max ||
         filter.ids.values.size() > MessageLimits{}.filter_values_max ||
         filter.kinds.values.size() > MessageLimits{}.filter_values_max;
}

void check_round_trip(EventFilter filter) {
  std::string json;
  append_json(filter, json);
  GYRE_ASSERT_CMP(json.size(), ==, json_bytes(filter));
  EventFilter back;
  GYRE_ASSERT(parse_filter(json, back) == DecodeError::kNone);
  std::string again;
  append_json(back, again);
  GYRE_ASSERT(again == json);
  sort(filter);
  sort(back);
  json.clear();
  again.clear();
  append_json(filter, json);
  append_json(back, again);
  GYRE_ASSERT(again == json);
}

void check(std::string_view text) {
  static MessageParser parser{MessageLimits{}};
  EventFilter filter;
  const bool is_filter = parse_filter(text, filter) == DecodeError::kNone;
  if (is_filter) check_round_trip(filter);
  if (!is_valid_utf8(text)) return;
  std::string padded(text);
  padded.resize(text.size() + MessageParser::kPadding, ' ');
  const ClientMessage& message =
      parser.parse_filter(std::string_view(padded).substr(0, text.size()));
  const bool is_relay_filter = message.kind == MessageKind::kReq;
  if (is_filter && !is_beyond_relay(filter)) GYRE_ASSERT(is_relay_filter);
  // The relay takes times up to 2^64 - 1; no event has such.
  if (!is_filter || !is_relay_filter) return;
  for (const Sample& sample : samples()) {
    const bool is_match = message.filters.front().matches(PackedEventView(sample.packed.data()));
    GYRE_ASSERT_CMP(matches(filter, sample.event), ==, is_match);
  }
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  gyre::nostr::check(gyre::as_text({data, size}));
  return 0;
}

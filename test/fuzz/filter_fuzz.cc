// A filter and an event. A filter that is accepted means the same when it is written out and read
// again, and matches what a slow and simple reading of NIP-01 says.

#include <fuzzer/FuzzedDataProvider.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/assert.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/kind.h"
#include "support/event_factory.h"

namespace gyre::nostr {
namespace {

template <typename Values, typename Append>
void append_list(std::string& out, std::string_view name, const Values& values, Append append) {
  out += (out.size() > 1 ? ",\"" : "\"") + std::string(name) + "\":[";
  for (const auto& value : values) {
    if (out.back() != '[') out += ',';
    append(value);
  }
  out += ']';
}

// Only what is present; the empty lists of a filter that matches nothing cannot be told apart.
std::string filter_text(const Filter& filter) {
  std::string out = "{";
  const auto append_key = [&](const Bytes32& key) { out += '"' + to_hex(key.bytes) + '"'; };
  const auto append_member = [&](const char* name, const std::string& number) {
    out += (out.size() > 1 ? ",\"" : "\"") + std::string(name) + "\":" + number;
  };
  if (filter.has_ids()) append_list(out, "ids", filter.ids, append_key);
  if (filter.has_authors()) append_list(out, "authors", filter.authors, append_key);
  if (filter.has_kinds()) {
    append_list(out, "kinds", filter.kinds,
                [&](std::uint16_t kind) { out += std::to_string(kind); });
  }
  for (const TagCondition& tag : filter.tags) {
    append_list(out, std::string("#") + tag.letter, tag.values,
                [&](const std::string& value) { out += '"' + value + '"'; });
  }
  append_member("since", std::to_string(filter.since));
  append_member("until", std::to_string(filter.until));
  if (filter.limit) append_member("limit", std::to_string(*filter.limit));
  return out + "}";
}

bool is_equal(const Filter& a, const Filter& b) {
  const auto is_same_tag = [](const TagCondition& x, const TagCondition& y) {
    return x.letter == y.letter && x.values == y.values;
  };
  return a.ids == b.ids && a.authors == b.authors && a.kinds == b.kinds && a.since == b.since &&
         a.until == b.until && a.limit == b.limit &&
         std::equal(a.tags.begin(), a.tags.end(), b.tags.begin(), b.tags.end(), is_same_tag);
}

const ClientMessage& parse(MessageParser& parser, std::string& text) {
  const std::size_t size = text.size();
  text.resize(size + MessageParser::kPadding, ',');
  return parser.parse_filter(std::string_view(text).substr(0, size));
}

bool naive_tag_match(const TagCondition& condition, const test::EventDraft& draft) {
  const auto is_listed = [&](const std::string& value) {
    std::string escaped;
    append_escaped(value, escaped);
    return std::find(condition.values.begin(), condition.values.end(), escaped) !=
           condition.values.end();
  };
  const std::string name(1, condition.letter);
  const std::vector<std::string>* first = nullptr;
  for (const std::vector<std::string>& tag : draft.tags) {
    if (tag[0] != name) continue;
    if (first == nullptr) first = &tag;
    if (tag.size() > 1 && is_listed(tag[1])) return true;
  }
  const bool has_empty_address = first == nullptr || first->size() == 1 || (*first)[1].empty();
  return condition.letter == 'd' && kind_class(draft.kind) == KindClass::kAddressable &&
         has_empty_address && is_listed("");
}

bool naive_match(const Filter& filter, const test::EventDraft& draft, const Bytes32& id) {
  const auto is_in = [](const auto& list, const auto& value) {
    return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
  };
  const auto created_at = static_cast<std::int64_t>(draft.created_at);
  return !filter.matches_nothing && is_in(filter.ids, id) &&
         is_in(filter.authors, test::pubkey(draft.key_index)) && is_in(filter.kinds, draft.kind) &&
         created_at >= filter.since && created_at <= filter.until &&
         std::all_of(filter.tags.begin(), filter.tags.end(), [&](const TagCondition& condition) {
           return naive_tag_match(condition, draft);
         });
}

test::EventDraft consume_draft(FuzzedDataProvider& input) {
  test::EventDraft draft;
  draft.key_index = input.ConsumeIntegralInRange<std::uint32_t>(0, 3);
  draft.kind = input.ConsumeBool() ? input.PickValueInArray<std::uint16_t>({0, 1, 7, 30'023})
                                   : input.ConsumeIntegral<std::uint16_t>();
  draft.created_at = input.ConsumeIntegral<std::uint64_t>() >> 1;
  const auto tag_count = input.ConsumeIntegralInRange<std::size_t>(0, 4);
  for (std::size_t i = 0; i < tag_count; ++i) {
    std::vector<std::string>& tag = draft.tags.emplace_back();
    tag.push_back(input.PickValueInArray<const char*>({"d", "e", "t", "T", "alt"}));
    const auto item_count = input.ConsumeIntegralInRange<std::size_t>(0, 2);
    for (std::size_t item = 0; item < item_count; ++item) {
      std::string value = input.ConsumeRandomLengthString(16);
      for (char& c : value) c = static_cast<char>(c & 0x7f);
      tag.push_back(std::move(value));
    }
  }
  return draft;
}

// Half of the time a filter that takes some values from the event, so that it has a chance.
std::string consume_filter(FuzzedDataProvider& input, const test::EventDraft& draft) {
  if (input.ConsumeBool()) return input.ConsumeRemainingBytesAsString();
  Filter filter;
  if (input.ConsumeBool()) filter.kinds = {draft.kind};
  if (input.ConsumeBool()) filter.authors = {test::pubkey(draft.key_index)};
  if (input.ConsumeBool()) filter.since = static_cast<std::int64_t>(draft.created_at);
  if (input.ConsumeBool()) filter.until = static_cast<std::int64_t>(draft.created_at);
  if (input.ConsumeBool() && !draft.tags.empty()) {
    const std::vector<std::string>& tag =
        draft.tags[input.ConsumeIntegralInRange<std::size_t>(0, draft.tags.size() - 1)];
    std::string value;
    append_escaped(tag[input.ConsumeIntegralInRange<std::size_t>(0, tag.size() - 1)], value);
    if (tag[0].size() == 1 && tag[0] != "e") filter.tags.push_back({tag[0][0], {value}});
  }
  return filter_text(filter);
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gyre;
  using namespace gyre::nostr;
  static MessageParser parser{MessageLimits{}};
  FuzzedDataProvider input(data, size);
  const test::EventDraft draft = consume_draft(input);
  std::string text = consume_filter(input, draft);
  if (!is_valid_utf8(text)) return 0;
  const ClientMessage& message = parse(parser, text);
  if (message.kind != MessageKind::kReq) return 0;
  GYRE_ASSERT_CMP(message.filters.size(), ==, 1u);
  const Filter filter = message.filters.front();

  std::string written = filter_text(filter);
  const ClientMessage& again = parse(parser, written);
  GYRE_ASSERT(again.kind == MessageKind::kReq);
  GYRE_ASSERT(is_equal(again.filters.front(), filter));

  const std::vector<std::uint8_t> packed = test::pack_unsigned_event(draft);
  const PackedEventView event(packed.data());
  GYRE_ASSERT_CMP(filter.matches(event), ==, naive_match(filter, draft, event.id()));
  return 0;
}

#include "micro/samples.h"

#include <stdexcept>

#include "gyre/nostr/verify.h"
#include "support/event_factory.h"

namespace gyre::perf {
namespace {

using nostr::Event;
using nostr::EventFilter;
using nostr::TagList;

Event signed_event(const test::EventDraft& draft) {
  Event event;
  if (parse_event(test::sign_event(draft), event) != nostr::DecodeError::kNone) {
    throw std::runtime_error("a sample is not well formed");
  }
  return event;
}

}  // namespace

Bytes32 numbered_key(std::uint32_t number) {
  return nostr::sha256(as_bytes("key " + std::to_string(number)));
}

std::string numbered_hex(std::uint32_t number) { return to_hex(numbered_key(number).bytes); }

Event small_event() {
  return signed_event({
      .kind = 1,
      .tags = {{"t", numbered_hex(1)}, {"e", numbered_hex(2)}, {"p", numbered_hex(3)}},
      .content = "This is a test event with \"quotes\" and <html> & ampersands, long enough to be "
                 "like what people write to each other in a \"typical\" short text note.",
  });
}

Event large_event() {
  test::EventDraft draft{.kind = 1};
  for (std::uint32_t i = 0; i < 20; ++i) draft.tags.push_back({"t", numbered_hex(i)});
  for (std::uint32_t i = 0; i < 7; ++i) draft.tags.push_back({"e", numbered_hex(100 + i)});
  for (int i = 0; i < 50; ++i) {
    draft.content += "Line " + std::to_string(i) +
                     " of a long text with \"quotes\", <tags>, tabs\tand back\\slashes.\n";
  }
  return signed_event(draft);
}

Event typical_event() {
  test::EventDraft draft{
      .kind = 1,
      .tags = {{"e", numbered_hex(1), "wss://relay.example.com", "root"}, {"p", numbered_hex(2)}},
      .content = "Good morning! Yes, I think \"that\" works.\nSee you there",
  };
  const std::size_t bytes = json_bytes(signed_event(draft));
  draft.content.append(650 - bytes, '.');
  return signed_event(draft);
}

EventFilter small_filter() {
  EventFilter filter;
  filter.ids.is_present = true;
  filter.ids.values = keys(5);
  filter.kinds = {1, 6, 7};
  filter.authors = {numbered_key(50), numbered_key(51), numbered_key(52)};
  filter.tags = {{"t", numbered_hex(60)}, {"e", numbered_hex(61)}, {"p", numbered_hex(62)}};
  filter.since = 1'767'225'600;
  filter.until = 1'767'312'000;
  filter.limit = 100;
  filter.search = "test search query";
  return filter;
}

EventFilter complex_filter() {
  EventFilter filter = small_filter();
  filter.ids.values = keys(20);
  filter.kinds = {0, 1, 3, 4, 5, 6, 7, 1'059, 10'002, 30'023};
  filter.authors.values = keys(15);
  filter.tags.clear();
  for (std::uint32_t i = 0; i < 26; ++i) {
    const char letter = static_cast<char>('a' + i);
    filter.tags.append(
        {{&letter, 1}, numbered_hex(3 * i), numbered_hex(3 * i + 1), numbered_hex(3 * i + 2)});
  }
  filter.limit = 1'000;
  return filter;
}

std::vector<EventFilter> filter_slice() {
  std::vector<EventFilter> filters(5, small_filter());
  for (std::size_t i = 0; i < filters.size(); ++i) filters[i].limit = i;
  return filters;
}

TagList small_tag() { return {{"e", numbered_hex(1)}}; }

TagList large_tag() {
  return {{"p", numbered_hex(1), "wss://relay.example.com", "mention", "alice", "friend"}};
}

TagList small_tags() {
  return {{"e", numbered_hex(1)},
          {"p", numbered_hex(2)},
          {"t", "nostr"},
          {"r", "https://example.com/page"},
          {"alt", "an event"}};
}

TagList large_tags() {
  TagList tags;
  for (std::uint32_t i = 0; i < 100; ++i) {
    static constexpr std::string_view kNames[] = {"e", "p", "t"};
    tags.append({kNames[i % 3], numbered_hex(i)});
  }
  return tags;
}

std::string small_text() {
  return "This is a text with \"quotes\", a back\\slash, a line\nbreak, a\ttab and enough words to "
         "be about as long as said.";
}

std::string large_text() {
  std::string text(8'192, '\0');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i % 256);
  return text;
}

std::vector<Bytes32> keys(std::size_t count) {
  std::vector<Bytes32> keys(count);
  for (std::uint32_t i = 0; i < count; ++i) keys[i] = numbered_key(i);
  return keys;
}

nostr::StringList strings(std::size_t count) {
  nostr::StringList strings;
  for (std::size_t i = 0; i < count; ++i) {
    strings.append("a string of the list, number " + std::to_string(i));
  }
  return strings;
}

}  // namespace gyre::perf

#include "differential/corpus.h"

#include "support/event_factory.h"

namespace gyre::test {
namespace {

constexpr std::uint32_t kAuthors = 200;
constexpr std::uint64_t kTime = 1'700'000'000;
constexpr std::uint64_t kSeconds = 900;
constexpr std::uint16_t kKinds[] = {1, 1,      1,      1,      1,      6,     7,      7,     0,
                                    3, 10'002, 30'023, 30'023, 30'078, 1'111, 20'001, 9'735, 5};
// What is escaped in JSON, what is not, what is long, and what differs in case only.
constexpr const char* kWords[] = {
    "reef",
    "Reef",
    "kelp",
    "otter",
    "a \"quoted\" word",
    "back\\slash",
    "two\nlines",
    "tab\t",
    "/slash",
    "\xc3\xbcml",
    "\xf0\x9f\xa6\xa6",
    "",
    "a value that is longer than thirty-two bytes, so that no short form of it will do"};

// Of a member whose value is 64 hex digits.
std::string hex_after(const std::string& json, const std::string& name) {
  return json.substr(json.find(name) + name.size(), 64);
}

}  // namespace

std::vector<PlainEvent> DifferentialCorpus::make_events(std::size_t count) {
  std::vector<PlainEvent> events;
  while (events.size() < count) events.push_back(make_event(events));
  return events;
}

PlainEvent DifferentialCorpus::make_event(const std::vector<PlainEvent>& before) {
  PlainEvent event;
  event.kind = kKinds[below(std::size(kKinds))];
  event.created_at = kTime + below(kSeconds);
  // Half of all is by a tenth of the authors.
  const auto key_index = static_cast<std::uint32_t>(below(chance(50) ? kAuthors / 10 : kAuthors));
  event.pubkey = pubkey_hex(key_index);
  add_references(event, before);
  EventDraft draft;
  draft.key_index = key_index;
  draft.created_at = event.created_at;
  draft.kind = event.kind;
  draft.tags = event.tags;
  draft.content = std::to_string(before.size());
  event.json = sign_event(draft);
  event.id = hex_after(event.json, "\"id\":\"");
  return event;
}

void DifferentialCorpus::add_references(PlainEvent& event, const std::vector<PlainEvent>& before) {
  if (event.kind == 30'023 || event.kind == 30'078) {
    if (chance(80)) event.tags.push_back({"d", kWords[below(4)]});
    if (chance(10)) event.tags.push_back({"d"});
    if (chance(10)) event.tags.push_back({"d", "not the first"});
  }
  if (before.empty()) return;
  for (std::uint64_t i = below(4); i > 0; --i) {
    switch (below(6)) {
      case 0: event.tags.push_back({"e", some(before).id, "wss://relay.test", "root"}); break;
      case 1: event.tags.push_back({"p", some(before).pubkey}); break;
      case 2: event.tags.push_back({"t", kWords[below(std::size(kWords))], kWords[0]}); break;
      case 3: event.tags.push_back({"T", kWords[below(std::size(kWords))]}); break;
      case 4: event.tags.push_back({"t"}); break;
      default:
        event.tags.push_back(
            {"a", "30023:" + some(before).pubkey + ':' + std::string(kWords[below(4)])});
    }
  }
  if (event.kind == 5) {
    // Mostly of its own author, which is when it has an effect.
    for (const PlainEvent& other : before) {
      if (other.pubkey == event.pubkey && chance(4)) event.tags.push_back({"e", other.id});
    }
    if (chance(20)) event.tags.push_back({"a", "30023:" + event.pubkey + ":reef"});
  }
}

Question DifferentialCorpus::make_question(const std::vector<PlainEvent>& events) {
  Question question;
  const std::uint64_t filters = chance(80) ? 1 : 2 + below(3);
  while (question.size() < filters) question.push_back(make_filter(events));
  return question;
}

PlainFilter DifferentialCorpus::make_filter(const std::vector<PlainEvent>& events) {
  PlainFilter filter;
  // Few filters ask for much, or comparing the answers would take all the time.
  const bool is_broad = chance(4);
  const bool has_tags = chance(is_broad ? 10 : 45);
  if (chance(is_broad ? 10 : 55) || (!is_broad && !has_tags)) {
    for (std::uint64_t i = chance(3) ? 40 : 1 + below(3); i > 0; --i) {
      filter.authors.insert(some(events).pubkey);
    }
  }
  if (chance(50)) {
    for (std::uint64_t i = chance(5) ? 30 : 1 + below(2); i > 0; --i) {
      filter.kinds.insert(kKinds[below(std::size(kKinds))]);
    }
  }
  if (has_tags) {
    for (std::uint64_t i = 1 + below(2); i > 0; --i) add_tag_condition(filter, events);
  }
  if (chance(8)) {
    for (std::uint64_t i = 1 + below(5); i > 0; --i) filter.ids.insert(some(events).id);
    if (chance(10)) filter.ids.insert(std::string(64, 'f'));
  }
  if (chance(40)) add_window(filter);
  if (chance(50)) filter.limit = chance(10) ? 0 : 1 + below(30);
  return filter;
}

void DifferentialCorpus::add_tag_condition(PlainFilter& filter,
                                           const std::vector<PlainEvent>& events) {
  constexpr char kLetters[] = {'e', 'p', 't', 'T', 'd', 'a'};
  const char letter = kLetters[below(std::size(kLetters))];
  std::set<std::string>& values = filter.tags[letter];
  for (std::uint64_t i = 1 + below(3); i > 0; --i) {
    switch (letter) {
      case 'e': values.insert(some(events).id); break;
      case 'p': values.insert(some(events).pubkey); break;
      case 'a':
        values.insert("30023:" + some(events).pubkey + ':' + std::string(kWords[below(4)]));
        break;
      default: values.insert(kWords[below(std::size(kWords))]);
    }
  }
}

void DifferentialCorpus::add_window(PlainFilter& filter) {
  const std::uint64_t since = kTime + below(kSeconds);
  if (chance(60)) filter.since = since;
  // Now and then before `since`: nothing, and no error.
  if (chance(60)) filter.until = chance(5) ? since - 1 : since + below(kSeconds / 3);
}

}  // namespace gyre::test

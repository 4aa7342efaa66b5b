#include "query_plan.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "chance.h"
#include "failure.h"

namespace gyre::load {
namespace {

// A query as values, to be asked of the corpus and to be written down.
struct Wanted {
  absl::flat_hash_set<std::string_view> ids;
  absl::flat_hash_set<std::string_view> authors;
  std::vector<std::uint16_t> kinds;
  char letter = 0;
  std::string_view value;
  std::uint64_t since = 0;
  std::uint64_t until = UINT64_MAX;
  std::uint64_t limit = 0;
};

bool matches(const Wanted& wanted, const QueryEvent& event) {
  if (!wanted.ids.empty() && !wanted.ids.contains(event.id)) return false;
  if (!wanted.authors.empty() && !wanted.authors.contains(event.pubkey)) return false;
  if (!wanted.kinds.empty() && std::ranges::count(wanted.kinds, event.kind) == 0) return false;
  if (event.created_at < wanted.since || event.created_at > wanted.until) return false;
  return wanted.letter == 0 ||
         std::ranges::count(event.tags, std::pair(wanted.letter, wanted.value)) > 0;
}

std::uint64_t count_matches(const Wanted& wanted, const std::vector<QueryEvent>& events) {
  std::uint64_t count = 0;
  for (const QueryEvent& event : events) {
    if (count == wanted.limit) break;
    if (matches(wanted, event)) ++count;
  }
  return count;
}

std::string members_of(const Wanted& wanted) {
  std::string out;
  const auto add = [&out](const std::string& name, const auto& values, const char* quote) {
    std::string list;
    for (const auto& value : values) {
      if (!list.empty()) list += ',';
      list.append(quote).append(value).append(quote);
    }
    if (!list.empty()) out += ",\"" + name + "\":[" + list + "]";
  };
  std::vector<std::string> kinds;
  for (const std::uint16_t kind : wanted.kinds) kinds.push_back(std::to_string(kind));
  add("ids", wanted.ids, "\"");
  add("authors", wanted.authors, "\"");
  add("kinds", kinds, "");
  if (wanted.letter != 0) {
    add(std::string("#") + wanted.letter, std::vector<std::string_view>{wanted.value}, "\"");
  }
  if (wanted.since != 0) out += ",\"since\":" + std::to_string(wanted.since);
  if (wanted.until != UINT64_MAX) out += ",\"until\":" + std::to_string(wanted.until);
  return out;
}

class Asker {
 public:
  Asker(const std::vector<QueryEvent>& events, std::uint64_t seed)
      : events_(events), chance_(seed) {}

  // One function for each name of class_names().
  [[nodiscard]] Wanted ids() { return {.ids = {some().id}, .limit = 1}; }
  [[nodiscard]] Wanted author_kind() {
    const QueryEvent& event = some();
    return {.authors = {event.pubkey}, .kinds = {event.kind}, .limit = 20};
  }
  [[nodiscard]] Wanted kinds() { return {.kinds = {1, 6}, .limit = 100}; }
  [[nodiscard]] Wanted replies() { return with_tag('e', {1}, 100); }
  [[nodiscard]] Wanted feed() {
    return {.authors = some_authors(150), .kinds = {1, 6}, .limit = 50};
  }
  [[nodiscard]] Wanted notifications() { return with_tag('p', {1, 6, 7, 9735}, 100); }
  // As six hours are to a few days of a relay.
  [[nodiscard]] Wanted window() {
    const std::uint64_t span = newest() - oldest();
    const std::uint64_t since = oldest() + chance_.below(span - span / 20);
    return {.since = since, .until = since + span / 20, .limit = 500};
  }
  [[nodiscard]] Wanted profiles() {
    return {.authors = some_authors(100), .kinds = {0}, .limit = 100};
  }
  [[nodiscard]] Wanted hashtag() { return with_tag('t', {}, 50); }
  [[nodiscard]] Wanted deep_page() {
    const std::uint64_t until = oldest() + chance_.below((newest() - oldest()) / 2 + 1);
    return {.kinds = {1}, .until = until, .limit = 100};
  }

 private:
  [[nodiscard]] const QueryEvent& some() { return events_[chance_.below(events_.size())]; }
  [[nodiscard]] std::uint64_t newest() const { return events_.front().created_at; }
  [[nodiscard]] std::uint64_t oldest() const { return events_.back().created_at; }
  // Of whom events are many, more often.
  [[nodiscard]] absl::flat_hash_set<std::string_view> some_authors(std::size_t count) {
    absl::flat_hash_set<std::string_view> authors;
    for (std::size_t tries = 50 * count; authors.size() < count && tries > 0; --tries) {
      authors.insert(some().pubkey);
    }
    if (authors.size() < count) fail("the corpus has too few authors to ask for");
    return authors;
  }
  [[nodiscard]] Wanted with_tag(char letter, std::vector<std::uint16_t> kinds,
                                std::uint64_t limit) {
    for (std::size_t tries = 1'000'000; tries > 0; --tries) {
      const QueryEvent& event = some();
      for (const auto& [name, value] : event.tags) {
        // Escapes would have to be understood to know what is asked.
        const bool is_plain = value.find('\\') == std::string_view::npos;
        if (name != letter || !is_plain) continue;
        return {.kinds = std::move(kinds), .letter = letter, .value = value, .limit = limit};
      }
    }
    fail(std::string("the corpus has no tag ") + letter);
  }

  const std::vector<QueryEvent>& events_;
  Chance chance_;
};

using Ask = Wanted (Asker::*)();
constexpr Ask kAsks[] = {&Asker::ids,     &Asker::author_kind,   &Asker::kinds,  &Asker::replies,
                         &Asker::feed,    &Asker::notifications, &Asker::window, &Asker::profiles,
                         &Asker::hashtag, &Asker::deep_page};

}  // namespace

const std::vector<std::string>& QueryPlan::class_names() {
  static const std::vector<std::string> names = {"ids",     "author_kind",   "kinds",  "replies",
                                                 "feed",    "notifications", "window", "profiles",
                                                 "hashtag", "deep_page"};
  return names;
}

QueryPlan::QueryPlan(const std::vector<QueryEvent>& events, std::size_t per_class,
                     std::uint64_t seed) {
  if (events.size() < 1'000) fail("the corpus has too few events to ask for; 1,000 at least");
  Asker asker(events, seed);
  for (std::size_t round = 0; round < per_class; ++round) {
    for (std::size_t i = 0; i < std::size(kAsks); ++i) {
      const Wanted wanted = (asker.*kAsks[i])();
      queries_.push_back({i, wanted.limit, members_of(wanted), count_matches(wanted, events)});
    }
  }
}

}  // namespace gyre::load

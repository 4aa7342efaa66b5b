#include "query_event.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "failure.h"

namespace gyre::load {
namespace {

constexpr std::uint16_t kEncryptedMessage = 4;
constexpr std::uint16_t kGiftWrap = 1059;

std::string_view behind(std::string_view& line, std::string_view key) {
  const std::size_t found = line.find(key);
  if (found == std::string_view::npos) fail("an event without " + std::string(key));
  line.remove_prefix(found + key.size());
  return line;
}

template <typename Number>
Number number_behind(std::string_view& line, std::string_view key) {
  const std::string_view text = behind(line, key);
  Number number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec != std::errc{}) {
    fail("no number behind " + std::string(key));
  }
  return number;
}

// Tags of one letter, with their values; the corpus has no quotes in these.
void read_tags(std::string_view tags, QueryEvent& event) {
  for (std::size_t at = tags.find("[\""); at != std::string_view::npos;
       at = tags.find("[\"", at + 1)) {
    const std::string_view tag = tags.substr(at + 2);
    if (tag.size() < 5 || tag.substr(1, 3) != "\",\"") continue;
    const std::string_view value = tag.substr(4);
    event.tags.emplace_back(tag[0], value.substr(0, value.find('"')));
  }
}

QueryEvent read_event(std::string_view line) {
  QueryEvent event;
  event.id = behind(line, Corpus::kIdStart).substr(0, 64);
  event.pubkey = behind(line, R"("pubkey":")").substr(0, 64);
  event.created_at = number_behind<std::uint64_t>(line, R"("created_at":)");
  event.kind = number_behind<std::uint16_t>(line, R"("kind":)");
  const std::string_view tags = behind(line, R"("tags":[)");
  read_tags(tags.substr(0, tags.find(R"(,"content":)")), event);
  return event;
}

std::string_view first_d(const QueryEvent& event) {
  for (const auto& [letter, value] : event.tags) {
    if (letter == 'd') return value;
  }
  return {};
}

bool is_before(const QueryEvent& left, const QueryEvent& right) {
  if (left.created_at != right.created_at) return left.created_at > right.created_at;
  return left.id < right.id;
}

}  // namespace

std::vector<QueryEvent> readable_events(const Corpus& corpus) {
  std::vector<QueryEvent> all;
  for (std::size_t i = 0; i < corpus.size(); ++i) all.push_back(read_event(corpus.json(i)));
  std::sort(all.begin(), all.end(), is_before);
  absl::flat_hash_map<std::tuple<std::uint16_t, std::string_view, std::string_view>, bool> seen;
  std::vector<QueryEvent> kept;
  for (QueryEvent& event : all) {
    const std::uint16_t kind = event.kind;
    if (kind == kEncryptedMessage || kind == kGiftWrap) continue;
    const bool is_addressable = kind >= 30'000 && kind < 40'000;
    const bool is_replaceable = kind == 0 || kind == 3 || (kind >= 10'000 && kind < 20'000);
    if (is_addressable || is_replaceable) {
      const std::string_view d = is_addressable ? first_d(event) : std::string_view();
      if (!seen.emplace(std::tuple(kind, event.pubkey, d), true).second) continue;
    }
    kept.push_back(std::move(event));
  }
  return kept;
}

}  // namespace gyre::load

#include "differential/plain_filter.h"

#include <algorithm>

namespace gyre::test {
namespace {

bool has_tag(const PlainEvent& event, char letter, const std::set<std::string>& values) {
  const std::string name(1, letter);
  const auto has_name = [&name](const auto& tag) { return tag[0] == name; };
  const bool is_found = std::ranges::any_of(event.tags, [&](const std::vector<std::string>& tag) {
    return has_name(tag) && tag.size() > 1 && values.contains(tag[1]);
  });
  if (is_found || letter != 'd' || !values.contains("")) return is_found;
  // An addressable event without a `d` value has the address with the empty one.
  const auto first = std::ranges::find_if(event.tags, has_name);
  const bool has_value = first != event.tags.end() && first->size() > 1;
  return event.kind >= 30'000 && event.kind < 40'000 && !has_value;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char byte : text) {
    switch (byte) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      default: out += byte;
    }
  }
  return out + '"';
}

std::string number(std::uint64_t value) { return std::to_string(value); }

template <typename Values, typename Write>
std::string list(const Values& values, const Write& write) {
  std::string out;
  for (const auto& value : values) out += (out.empty() ? "" : ",") + write(value);
  return '[' + out + ']';
}

}  // namespace

bool PlainFilter::matches(const PlainEvent& event) const {
  if (!ids.empty() && !ids.contains(event.id)) return false;
  if (!authors.empty() && !authors.contains(event.pubkey)) return false;
  if (!kinds.empty() && !kinds.contains(event.kind)) return false;
  if (since && event.created_at < *since) return false;
  if (until && event.created_at > *until) return false;
  return std::ranges::all_of(tags, [&](const auto& condition) {
    return has_tag(event, condition.first, condition.second);
  });
}

std::string PlainFilter::json() const {
  std::string out;
  const auto add = [&out](const std::string& name, const std::string& value) {
    out += (out.empty() ? "" : ",") + quoted(name) + ':' + value;
  };
  if (!ids.empty()) add("ids", list(ids, quoted));
  if (!authors.empty()) add("authors", list(authors, quoted));
  if (!kinds.empty()) add("kinds", list(kinds, number));
  for (const auto& [letter, values] : tags) add({'#', letter}, list(values, quoted));
  if (since) add("since", number(*since));
  if (until) add("until", number(*until));
  if (limit) add("limit", number(*limit));
  return '{' + out + '}';
}

}  // namespace gyre::test

#include "nostr/filter_json.h"

#include <algorithm>
#include <array>
#include <limits>

#include "absl/container/inlined_vector.h"
#include "gyre/nostr/json_value.h"
#include "nostr/key_list.h"
#include "nostr/packed_layout.h"
#include "nostr/tag_reader.h"

namespace gyre::nostr {
namespace {

enum Member : std::uint32_t {
  kIds,
  kAuthors,
  kKinds,
  kSince,
  kUntil,
  kLimit,
  kSearch,
  kTag,
  kUnknown
};

Member member_of(std::string_view name) {
  if (name.size() == 2 && name[0] == '#' && is_tag_letter(name[1])) return kTag;
  if (name == "ids") return kIds;
  if (name == "authors") return kAuthors;
  if (name == "kinds") return kKinds;
  if (name == "since") return kSince;
  if (name == "until") return kUntil;
  if (name == "limit") return kLimit;
  if (name == "search") return kSearch;
  return kUnknown;
}

DecodeError read_kinds(JsonCursor& cursor, std::vector<std::uint16_t>& kinds) {
  if (!cursor.take('[')) return DecodeError::kBadList;
  if (cursor.take(']')) return DecodeError::kNone;
  do {
    IntegerToken kind;
    if (!cursor.take_number(kind)) return DecodeError::kBadList;
    if (!kind.is_integer || kind.is_negative || !kind.fits || kind.magnitude > 0xffff) {
      return DecodeError::kBadNumber;
    }
    kinds.push_back(static_cast<std::uint16_t>(kind.magnitude));
  } while (cursor.take(','));
  return cursor.take(']') ? DecodeError::kNone : DecodeError::kNotJson;
}

DecodeError read_time(JsonCursor& cursor, std::optional<std::int64_t>& time) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int64_t>::max();
  IntegerToken token;
  if (!cursor.take_number(token) || !token.is_integer || !token.fits) {
    return DecodeError::kBadNumber;
  }
  if (token.magnitude > kMax + (token.is_negative ? 1 : 0)) return DecodeError::kBadNumber;
  time = static_cast<std::int64_t>(token.is_negative ? -token.magnitude : token.magnitude);
  return DecodeError::kNone;
}

DecodeError read_condition(JsonCursor& cursor, std::string_view letter, TagList& tags) {
  if (tags.find(letter) != tags.size()) return DecodeError::kRepeatedMember;
  tags.items().append(letter);
  const DecodeError error = read_strings(cursor, tags.items());
  if (error != DecodeError::kNone) return error;
  tags.end_tag();
  if (letter != "e" && letter != "p") return DecodeError::kNone;
  const TagView condition = tags[tags.size() - 1];
  for (std::size_t i = 1; i < condition.size(); ++i) {
    if (!is_lower_hex(condition[i], kKeyDigits)) return DecodeError::kBadHex;
  }
  return DecodeError::kNone;
}

DecodeError read_member(JsonCursor& cursor, Member member, EventFilter& filter) {
  switch (member) {
    case kIds: filter.ids.is_present = true; return read_key_list(cursor, filter.ids.values);
    case kAuthors:
      filter.authors.is_present = true;
      return read_key_list(cursor, filter.authors.values);
    case kKinds: filter.kinds.is_present = true; return read_kinds(cursor, filter.kinds.values);
    case kSince: return read_time(cursor, filter.since);
    case kUntil: return read_time(cursor, filter.until);
    case kLimit: return read_unsigned(cursor, ~std::uint64_t{0}, filter.limit.emplace());
    case kSearch: return read_text(cursor, filter.search.emplace());
    case kTag:
    case kUnknown: break;
  }
  return DecodeError::kUnknownMember;
}

// Names are short: what needs more room with escapes is none.
constexpr std::size_t kNameBytesMax = 7 * 6;

DecodeError read_name(JsonCursor& cursor, std::array<char, kNameBytesMax>& scratch,
                      std::string_view& name) {
  RawString string;
  if (!cursor.take_string(string) || !cursor.take(':')) return DecodeError::kNotJson;
  name = string.text;
  if (!string.has_escape) return DecodeError::kNone;
  if (string.text.size() > scratch.size()) return DecodeError::kUnknownMember;
  char* end = scratch.data();
  const DecodeError error = decode_string(string, end);
  name = {scratch.data(), static_cast<std::size_t>(end - scratch.data())};
  return error;
}

std::size_t signed_digits(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? 1 + decimal_digits(-bits) : decimal_digits(bits);
}

// Conditions by their letters.
absl::InlinedVector<std::uint32_t, 52> ordered_tags(const TagList& tags) {
  absl::InlinedVector<std::uint32_t, 52> order(tags.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return tags[a].name() < tags[b].name(); });
  return order;
}

class MemberOutput {
 public:
  explicit MemberOutput(JsonOutput& out) : out_(out) {}

  void begin(std::string_view name) {
    out_.put(before_);
    before_ = ',';
    out_.put('"');
    out_.put(name);
    out_.put("\":");
  }
  void end() {
    if (before_ == '{') out_.put('{');
    out_.put('}');
  }

 private:
  JsonOutput& out_;
  char before_ = '{';
};

void put_condition(JsonOutput& out, TagView condition) {
  char before = '[';
  for (std::size_t i = 1; i < condition.size(); ++i) {
    out.put(before);
    out.put_quoted(condition[i]);
    before = ',';
  }
  if (condition.size() == 1) out.put('[');
  out.put(']');
}

void put_kinds(JsonOutput& out, const std::vector<std::uint16_t>& kinds) {
  char before = '[';
  for (const std::uint16_t kind : kinds) {
    out.put(before);
    out.put_number(kind);
    before = ',';
  }
  if (kinds.empty()) out.put('[');
  out.put(']');
}

std::size_t kinds_bytes(const std::vector<std::uint16_t>& kinds) {
  std::size_t bytes = kinds.empty() ? 2 : 1 + kinds.size();
  for (const std::uint16_t kind : kinds) bytes += decimal_digits(kind);
  return bytes;
}

// "name":, with the comma or brace before it.
constexpr std::size_t key_bytes(std::string_view name) { return name.size() + 4; }

}  // namespace

DecodeError read_filter(JsonCursor& cursor, EventFilter& filter) {
  filter.clear();
  if (!cursor.take('{')) return DecodeError::kNotJson;
  if (cursor.take('}')) return DecodeError::kNone;
  std::uint32_t seen = 0;
  std::array<char, kNameBytesMax> scratch;
  do {
    std::string_view name;
    DecodeError error = read_name(cursor, scratch, name);
    if (error != DecodeError::kNone) return error;
    const Member member = member_of(name);
    if (member == kTag) {
      error = read_condition(cursor, name.substr(1), filter.tags);
    } else {
      if ((seen & 1u << member) != 0) return DecodeError::kRepeatedMember;
      seen |= 1u << member;
      error = read_member(cursor, member, filter);
    }
    if (error != DecodeError::kNone) return error;
  } while (cursor.take(','));
  return cursor.take('}') ? DecodeError::kNone : DecodeError::kNotJson;
}

void put_filter(JsonOutput& out, const EventFilter& filter) {
  MemberOutput members(out);
  if (filter.ids.is_present) {
    members.begin("ids");
    put_key_list(out, filter.ids.values);
  }
  if (filter.kinds.is_present) {
    members.begin("kinds");
    put_kinds(out, filter.kinds.values);
  }
  if (filter.authors.is_present) {
    members.begin("authors");
    put_key_list(out, filter.authors.values);
  }
  for (const std::uint32_t index : ordered_tags(filter.tags)) {
    const char name[] = {'#', filter.tags[index].name().front()};
    members.begin({name, sizeof name});
    put_condition(out, filter.tags[index]);
  }
  if (filter.since) {
    members.begin("since");
    out.put_number(*filter.since);
  }
  if (filter.until) {
    members.begin("until");
    out.put_number(*filter.until);
  }
  if (filter.search) {
    members.begin("search");
    out.put_quoted(*filter.search);
  }
  if (filter.limit) {
    members.begin("limit");
    out.put_number(*filter.limit);
  }
  members.end();
}

std::size_t json_bytes(const EventFilter& filter) {
  // Each member brings the comma or the brace before it; the last brace is one more.
  std::size_t bytes = 1;
  const auto add = [&](std::string_view name, std::size_t value_bytes) {
    bytes += key_bytes(name) + value_bytes;
  };
  if (filter.ids.is_present) add("ids", key_list_bytes(filter.ids.values.size()));
  if (filter.kinds.is_present) add("kinds", kinds_bytes(filter.kinds.values));
  if (filter.authors.is_present) add("authors", key_list_bytes(filter.authors.values.size()));
  for (const TagView condition : filter.tags) {
    const std::size_t values = condition.size() - 1;
    add("#x", values == 0 ? 2 : 1 + 3 * values);
  }
  // All values and the letters, which need no escape and were counted.
  if (!filter.tags.empty()) {
    bytes += escaped_bytes(filter.tags.items().text()) - filter.tags.size();
  }
  if (filter.since) add("since", signed_digits(*filter.since));
  if (filter.until) add("until", signed_digits(*filter.until));
  if (filter.search) add("search", 2 + escaped_bytes(*filter.search));
  if (filter.limit) add("limit", decimal_digits(*filter.limit));
  return bytes == 1 ? 2 : bytes;
}

char* write_json(const EventFilter& filter, char* out) {
  JsonOutput output(out);
  put_filter(output, filter);
  return output.end();
}

void append_json(const EventFilter& filter, std::string& out) {
  append_bytes(out, json_bytes(filter), [&](char* at) { return write_json(filter, at); });
}

std::size_t json_bytes(std::span<const EventFilter> filters) {
  std::size_t bytes = filters.empty() ? 2 : 1 + filters.size();
  for (const EventFilter& filter : filters) bytes += json_bytes(filter);
  return bytes;
}

char* write_json(std::span<const EventFilter> filters, char* out) {
  JsonOutput output(out);
  char before = '[';
  for (const EventFilter& filter : filters) {
    output.put(before);
    put_filter(output, filter);
    before = ',';
  }
  if (filters.empty()) output.put('[');
  output.put(']');
  return output.end();
}

void append_json(std::span<const EventFilter> filters, std::string& out) {
  append_bytes(out, json_bytes(filters), [&](char* at) { return write_json(filters, at); });
}

DecodeError parse_filter(std::string_view json, EventFilter& filter) {
  return parse_whole(json, [&](JsonCursor& cursor) { return read_filter(cursor, filter); });
}

DecodeError parse_filters(std::string_view json, std::vector<EventFilter>& filters) {
  return parse_whole(json, [&](JsonCursor& cursor) {
    std::size_t count = 0;
    if (!cursor.take('[')) return DecodeError::kBadList;
    if (!cursor.take(']')) {
      do {
        // Those that are there already keep their memory.
        if (count == filters.size()) filters.emplace_back();
        const DecodeError error = read_filter(cursor, filters[count++]);
        if (error != DecodeError::kNone) return error;
      } while (cursor.take(','));
      if (!cursor.take(']')) return DecodeError::kNotJson;
    }
    filters.resize(count);
    return DecodeError::kNone;
  });
}

}  // namespace gyre::nostr

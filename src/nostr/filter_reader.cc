#include "nostr/filter_reader.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "nostr/hex_words.h"
#include "nostr/json_string.h"
#include "nostr/packed_layout.h"

namespace gyre::nostr {
namespace {

constexpr Refusal kNotObject{Prefix::kInvalid, "a filter must be an object"};
constexpr Refusal kBadIds{Prefix::kInvalid,
                          "ids must be a list of strings of 64 lower-case hex digits"};
constexpr Refusal kBadAuthors{Prefix::kInvalid,
                              "authors must be a list of strings of 64 lower-case hex digits"};
constexpr Refusal kBadKinds{Prefix::kInvalid, "kinds must be a list of integers from 0 to 65535"};
constexpr Refusal kBadTagValues{Prefix::kInvalid, "a tag filter must be a list of strings"};
constexpr Refusal kBadTagKeys{Prefix::kInvalid,
                              "#e and #p must be lists of strings of 64 lower-case hex digits"};
constexpr Refusal kBadSince{Prefix::kInvalid, "since must be an integer"};
constexpr Refusal kBadUntil{Prefix::kInvalid, "until must be an integer"};
constexpr Refusal kBadLimit{Prefix::kInvalid, "limit must be a non-negative integer"};
constexpr Refusal kTooManyValues{Prefix::kInvalid, "too many values in a list of a filter"};
constexpr Refusal kTooManyTags{Prefix::kInvalid, "too many tag conditions in a filter"};

constexpr Refusal kSearchUnsupported{Prefix::kUnsupported, "search is not available on this relay"};
constexpr Refusal kAllUnsupported{
    Prefix::kUnsupported, "filters that demand all of several tag values are not available"};
constexpr Refusal kTagNameUnsupported{
    Prefix::kUnsupported, "only tags named by a single letter a-z or A-Z can be asked for"};
constexpr Refusal kMemberUnsupported{Prefix::kUnsupported, "unknown member in a filter"};

constexpr std::uint64_t kTimeMax = std::numeric_limits<std::int64_t>::max();

Fault unsupported(std::string_view name) {
  if (name == "search") return &kSearchUnsupported;
  if (name.starts_with('&')) return &kAllUnsupported;
  if (name.starts_with('#')) return &kTagNameUnsupported;
  return &kMemberUnsupported;
}

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

Fault FilterReader::read(ondemand::value& value, const TextContext& context, Filter& filter) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return &kNotObject;
  return read(object, context, filter);
}

Fault FilterReader::read(ondemand::object& object, const TextContext& context, Filter& filter) {
  context_ = context;
  seen_ = 0;
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return &kNotJson;
    if (const Fault fault = read_field(field, filter)) return fault;
  }
  if (filter.since > filter.until) filter.matches_nothing = true;
  return nullptr;
}

FilterReader::Member FilterReader::member_of(std::string_view name) {
  if (name.size() == 2 && name[0] == '#' && is_tag_letter(name[1])) return kTag;
  if (name == "ids") return kIds;
  if (name == "authors") return kAuthors;
  if (name == "kinds") return kKinds;
  if (name == "since") return kSince;
  if (name == "until") return kUntil;
  if (name == "limit") return kLimit;
  return kUnknown;
}

Fault FilterReader::read_field(ondemand::field& field, Filter& filter) {
  const StringCopy copy = copy_canonical(field.key().raw(), context_.text_end, context_.scratch);
  if (const Fault fault = string_fault(copy.verdict)) return fault;
  const std::string_view name(context_.scratch,
                              static_cast<std::size_t>(copy.out_end - context_.scratch));
  const Member member = member_of(name);
  if (member == kUnknown) return unsupported(name);
  if (member == kTag) return read_tag(name[1], field.value(), filter);
  const std::uint32_t bit = 1u << member;
  if ((seen_ & bit) != 0) return &kRepeatedMember;
  seen_ |= bit;
  switch (member) {
    case kIds: return read_keys(field.value(), filter, filter.ids);
    case kAuthors: return read_keys(field.value(), filter, filter.authors);
    case kKinds: return read_kinds(field.value(), filter);
    case kLimit: return read_limit(field.value(), filter);
    default: return read_time(member, field.value(), filter);
  }
}

Fault FilterReader::read_keys(ondemand::value& value, Filter& filter, std::vector<Bytes32>& keys) {
  const Fault fault = &keys == &filter.ids ? &kBadIds : &kBadAuthors;
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return fault;
  for (auto element : list) {
    ondemand::raw_json_string raw;
    if (element.get_raw_json_string().get(raw) != simdjson::SUCCESS) return fault;
    if (keys.size() == limits_.filter_values_max) return &kTooManyValues;
    const char* const digits =
        plain_hex(raw.raw(), context_.text_end, kKeyDigits, context_.scratch);
    if (digits == nullptr) return fault;
    keys.push_back(decode_hex32({digits, kKeyDigits}));
  }
  if (keys.empty()) filter.matches_nothing = true;
  sort_unique(keys);
  return nullptr;
}

Fault FilterReader::read_kinds(ondemand::value& value, Filter& filter) {
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return &kBadKinds;
  for (auto element : list) {
    ondemand::value item;
    if (std::move(element).get(item) != simdjson::SUCCESS) return &kBadKinds;
    const IntegerToken kind = parse_integer(item.raw_json_token());
    if (!kind.is_integer || kind.is_negative || !kind.fits || kind.magnitude > 0xffff) {
      return &kBadKinds;
    }
    if (filter.kinds.size() == limits_.filter_values_max) return &kTooManyValues;
    filter.kinds.push_back(static_cast<std::uint16_t>(kind.magnitude));
  }
  if (filter.kinds.empty()) filter.matches_nothing = true;
  sort_unique(filter.kinds);
  return nullptr;
}

Fault FilterReader::read_tag(char letter, ondemand::value& value, Filter& filter) {
  for (const TagCondition& other : filter.tags) {
    if (other.letter == letter) return &kRepeatedMember;
  }
  if (filter.tags.size() == limits_.filter_tags_max) return &kTooManyTags;
  TagCondition& condition = filter.tags.emplace_back();
  condition.letter = letter;
  ondemand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return &kBadTagValues;
  for (auto element : list) {
    ondemand::raw_json_string raw;
    if (element.get_raw_json_string().get(raw) != simdjson::SUCCESS) return &kBadTagValues;
    if (condition.values.size() == limits_.filter_values_max) return &kTooManyValues;
    if (const Fault fault = read_tag_value(letter, raw.raw(), condition)) return fault;
  }
  if (condition.values.empty()) filter.matches_nothing = true;
  sort_unique(condition.values);
  return nullptr;
}

Fault FilterReader::read_tag_value(char letter, const char* raw, TagCondition& condition) const {
  if (letter == 'e' || letter == 'p') {
    const char* const digits = plain_hex(raw, context_.text_end, kKeyDigits, context_.scratch);
    if (digits == nullptr) return &kBadTagKeys;
    condition.values.emplace_back(digits, kKeyDigits);
    return nullptr;
  }
  const StringCopy copy = copy_canonical(raw, context_.text_end, context_.scratch);
  if (const Fault fault = string_fault(copy.verdict)) return fault;
  condition.values.emplace_back(context_.scratch,
                                static_cast<std::size_t>(copy.out_end - context_.scratch));
  return nullptr;
}

// Integers from -2^63 to 2^64-1 (nips.md 01-F07). No event has a time outside 0 ... 2^63-1, so
// clamping changes nothing but one case: a `since` above all of them.
Fault FilterReader::read_time(Member member, ondemand::value& value, Filter& filter) {
  const Fault fault = member == kSince ? &kBadSince : &kBadUntil;
  const IntegerToken time = parse_integer(value.raw_json_token());
  if (!time.is_integer || !time.fits) return fault;
  if (time.is_negative && time.magnitude > kTimeMax + 1) return fault;
  std::int64_t clamped;
  if (time.is_negative) {
    clamped = static_cast<std::int64_t>(-time.magnitude);
  } else {
    clamped = static_cast<std::int64_t>(std::min(time.magnitude, kTimeMax));
  }
  if (member == kUntil) {
    filter.until = clamped;
  } else {
    filter.since = clamped;
    if (!time.is_negative && time.magnitude > kTimeMax) filter.matches_nothing = true;
  }
  return nullptr;
}

Fault FilterReader::read_limit(ondemand::value& value, Filter& filter) {
  const IntegerToken limit = parse_integer(value.raw_json_token());
  if (!limit.is_integer || limit.is_negative || !limit.fits) return &kBadLimit;
  filter.limit = limit.magnitude;
  return nullptr;
}

}  // namespace gyre::nostr

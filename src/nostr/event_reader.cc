#include "nostr/event_reader.h"

#include <cstring>
#include <limits>

#include "gyre/base/assert.h"
#include "gyre/nostr/kind.h"
#include "gyre/nostr/verify.h"
#include "nostr/json_string.h"
#include "nostr/packed_layout.h"

namespace gyre::nostr {
namespace {

constexpr Refusal kMissingMember{
    Prefix::kInvalid, "an event has id, pubkey, created_at, kind, tags, content and sig"};
constexpr Refusal kBadId{Prefix::kInvalid, "id must be 64 lower-case hex digits"};
constexpr Refusal kBadPubkey{Prefix::kInvalid, "pubkey must be 64 lower-case hex digits"};
constexpr Refusal kBadSig{Prefix::kInvalid, "sig must be 128 lower-case hex digits"};
constexpr Refusal kBadCreatedAt{Prefix::kInvalid, "created_at must be an integer from 0 to 2^63-1"};
constexpr Refusal kBadKind{Prefix::kInvalid, "kind must be an integer from 0 to 65535"};
constexpr Refusal kBadContent{Prefix::kInvalid, "content must be a string"};
constexpr Refusal kBadTags{Prefix::kInvalid, "tags must be an array of arrays of strings"};
constexpr Refusal kEmptyTag{Prefix::kInvalid, "a tag must have at least one string"};
constexpr Refusal kTooManyTags{Prefix::kInvalid, "too many tags"};
constexpr Refusal kContentTooLong{Prefix::kInvalid, "content is too long"};
constexpr Refusal kBadExpiration{Prefix::kInvalid,
                                 "expiration must be a decimal number from 0 to 2^63-1"};
constexpr Refusal kWrongId{Prefix::kInvalid, "id is not the hash of the event"};

constexpr std::uint64_t kTimeMax = std::numeric_limits<std::int64_t>::max();

// Longest text before the tags, with 19 digits of created_at and 5 of kind.
constexpr std::size_t kPrefixBytesMax = kPubkeyOffset + kKeyDigits + kCreatedAtName.size() + 19 +
                                        kKindName.size() + 5 + kTagsName.size();
static_assert(kPrefixBytesMax <= std::numeric_limits<std::uint8_t>::max());

char* append(char* out, std::string_view text) {
  std::memcpy(out, text.data(), text.size());
  return out + text.size();
}

}  // namespace

EventReader::EventReader(const MessageLimits& limits) : limits_(limits) {
  // The packed JSON is never longer than the text: a string's canonical form is not longer than
  // any other, and the text has the same members.
  GYRE_ASSERT_CMP(limits.message_bytes_max, <=, kPackedJsonBytesMax);
  const std::size_t front_bytes = sizeof(PackedEventHeader) +
                                  sizeof(TagEntry) * limits.event_tags_max + sizeof(std::uint64_t) +
                                  kPrefixBytesMax;
  buffer_ = std::make_unique_for_overwrite<char[]>(front_bytes + limits.message_bytes_max +
                                                   kStringSlackBytes);
  tags_begin_ = buffer_.get() + front_bytes;
}

void EventReader::start(const TextContext& context) {
  context_ = context;
  seen_ = 0;
  out_ = tags_begin_;
  tags_end_ = nullptr;
  tag_total_ = 0;
  table_.clear();
  expiration_text_.reset();
  expiration_.reset();
  is_protected_ = false;
  if (!unknown_names_.empty()) unknown_names_.clear();
  event_ = PackedEventView();
}

Fault EventReader::read(ondemand::object& object, std::uint32_t level, const TextContext& context) {
  start(context);
  for (auto result : object) {
    ondemand::field field;
    if (std::move(result).get(field) != simdjson::SUCCESS) return &kNotJson;
    if (const Fault fault = read_field(field, level)) return fault;
  }
  return finish();
}

EventReader::Member EventReader::member_of(std::string_view name) {
  switch (name.size()) {
    case 2: return name == "id" ? kId : kUnknown;
    case 3: return name == "sig" ? kSig : kUnknown;
    case 4: return name == "kind" ? kKind : name == "tags" ? kTags : kUnknown;
    case 6: return name == "pubkey" ? kPubkey : kUnknown;
    case 7: return name == "content" ? kContent : kUnknown;
    case 10: return name == "created_at" ? kCreatedAt : kUnknown;
    default: return kUnknown;
  }
}

Fault EventReader::read_field(ondemand::field& field, std::uint32_t level) {
  const StringCopy copy = copy_canonical(field.key().raw(), context_.text_end, context_.scratch);
  if (const Fault fault = string_fault(copy.verdict)) return fault;
  const std::string_view name(context_.scratch,
                              static_cast<std::size_t>(copy.out_end - context_.scratch));
  const Member member = member_of(name);
  if (member == kUnknown) return read_unknown(name, field.value(), level);
  const std::uint32_t bit = 1u << member;
  if ((seen_ & bit) != 0) return &kRepeatedMember;
  seen_ |= bit;
  switch (member) {
    case kCreatedAt:
    case kKind: return read_integer(member, field.value());
    case kTags: return read_tags(field.value());
    default: return read_string(member, field.value());
  }
}

// Unknown members are unsigned, so they are dropped (nips.md 01-E09).
Fault EventReader::read_unknown(std::string_view name, ondemand::value& value,
                                std::uint32_t level) {
  if (!unknown_names_.emplace(name).second) return &kRepeatedMember;
  return check_ignored(value, level, context_);
}

Fault EventReader::read_integer(Member member, ondemand::value& value) {
  integers_[member] = parse_integer(value.raw_json_token());
  if (integers_[member].is_integer) return nullptr;
  return member == kKind ? &kBadKind : &kBadCreatedAt;
}

// Only notes where the string stands: its place in the result is not known yet.
Fault EventReader::read_string(Member member, ondemand::value& value) {
  ondemand::raw_json_string raw;
  if (value.get_raw_json_string().get(raw) == simdjson::SUCCESS) {
    strings_[member] = raw.raw();
    return nullptr;
  }
  switch (member) {
    case kId: return &kBadId;
    case kPubkey: return &kBadPubkey;
    case kSig: return &kBadSig;
    default: return &kBadContent;
  }
}

Fault EventReader::read_tags(ondemand::value& value) {
  ondemand::array tags;
  if (value.get_array().get(tags) != simdjson::SUCCESS) return &kBadTags;
  *out_++ = '[';
  for (auto element : tags) {
    ondemand::array items;
    if (element.get_array().get(items) != simdjson::SUCCESS) return &kBadTags;
    if (tag_total_ == limits_.event_tags_max) return &kTooManyTags;
    if (tag_total_ != 0) *out_++ = ',';
    ++tag_total_;
    if (const Fault fault = read_tag(items)) return fault;
  }
  *out_++ = ']';
  tags_end_ = out_;
  return nullptr;
}

Fault EventReader::read_tag(ondemand::array& items) {
  Tag tag;
  char* out = out_;
  *out++ = '[';
  for (auto element : items) {
    ondemand::raw_json_string raw;
    if (element.get_raw_json_string().get(raw) != simdjson::SUCCESS) return &kBadTags;
    if (tag.item_count != 0) *out++ = ',';
    *out++ = '"';
    const StringCopy copy = copy_canonical(raw.raw(), context_.text_end, out);
    if (copy.verdict != StringVerdict::kGood) return string_fault(copy.verdict);
    if (tag.item_count == 0) tag.name = {out, copy.out_end};
    if (tag.item_count == 1) tag.value = {out, copy.out_end};
    ++tag.item_count;
    out = copy.out_end;
    *out++ = '"';
  }
  if (tag.item_count == 0) return &kEmptyTag;
  *out++ = ']';
  out_ = out;
  note_tag(tag);
  return nullptr;
}

void EventReader::note_tag(const Tag& tag) {
  const std::string_view name = tag.name.text();
  if (name.size() == 1 && is_tag_letter(name[0])) {
    const auto letter = static_cast<std::uint32_t>(name[0]) << 24;
    if (tag.item_count > 1) {
      table_.push_back({letter | static_cast<std::uint32_t>(tag.value.begin - tags_begin_),
                        static_cast<std::uint32_t>(tag.value.end - tag.value.begin)});
    } else {
      table_.push_back({letter, TagEntry::kNoValue});
    }
  } else if (name == "-") {
    is_protected_ = true;
  } else if (name == "expiration" && !expiration_text_) {
    expiration_text_ = tag.item_count > 1 ? tag.value.text() : std::string_view();
  }
}

Fault EventReader::finish() {
  if (seen_ != (1u << kMemberCount) - 1) return &kMissingMember;
  if (const Fault fault = check_integers()) return fault;
  if (const Fault fault = settle_expiration()) return fault;
  if (const Fault fault = write_rest()) return fault;
  return compute_id(event_) == event_.id() ? nullptr : &kWrongId;
}

Fault EventReader::check_integers() const {
  const IntegerToken& created_at = integers_[kCreatedAt];
  if (created_at.is_negative || !created_at.fits || created_at.magnitude > kTimeMax) {
    return &kBadCreatedAt;
  }
  const IntegerToken& kind = integers_[kKind];
  if (kind.is_negative || !kind.fits || kind.magnitude > 0xffff) return &kBadKind;
  return nullptr;
}

// A value that cannot be understood is refused rather than ignored: keeping for ever what its
// author wanted gone is worse (nips.md 40-05). On ephemeral events the tag has no effect (40-04).
Fault EventReader::settle_expiration() {
  if (!expiration_text_) return nullptr;
  const std::string_view text = *expiration_text_;
  const IntegerToken token = parse_integer(text);
  const bool is_plain = token.is_integer && !token.is_negative && token.digits == text;
  if (is_plain && token.fits && token.magnitude <= kTimeMax) {
    expiration_ = token.magnitude;
    return nullptr;
  }
  const auto kind = static_cast<std::uint16_t>(integers_[kKind].magnitude);
  return kind_class(kind) == KindClass::kEphemeral ? nullptr : &kBadExpiration;
}

// Content and signature, behind the tags; then the front.
Fault EventReader::write_rest() {
  char* out = append(tags_end_, kContentName);
  content_begin_ = out;
  *out++ = '"';
  const StringCopy copy = copy_canonical(strings_[kContent], context_.text_end, out);
  if (copy.verdict != StringVerdict::kGood) return string_fault(copy.verdict);
  const std::string_view content(out, static_cast<std::size_t>(copy.out_end - out));
  // Most contents have no more bytes than they may have characters.
  if (content.size() > limits_.content_chars_max &&
      decoded_code_point_count(content) > limits_.content_chars_max) {
    return &kContentTooLong;
  }
  out = copy.out_end;
  *out++ = '"';
  out = append(out, kSigName);
  const char* const sig =
      plain_hex(strings_[kSig], context_.text_end, kSigDigits, context_.scratch);
  if (sig == nullptr) return &kBadSig;
  out = append(out, {sig, kSigDigits});
  out_ = append(out, kJsonEnd);
  return write_prefix();
}

// The JSON in front of the tags, which ends where they begin.
Fault EventReader::write_prefix() {
  char prefix[kPrefixBytesMax];
  char* out = append(prefix, kIdName);
  const char* digits = plain_hex(strings_[kId], context_.text_end, kKeyDigits, context_.scratch);
  if (digits == nullptr) return &kBadId;
  out = append(append(out, {digits, kKeyDigits}), kPubkeyName);
  digits = plain_hex(strings_[kPubkey], context_.text_end, kKeyDigits, context_.scratch);
  if (digits == nullptr) return &kBadPubkey;
  out = append(append(out, {digits, kKeyDigits}), kCreatedAtName);
  out = append(append(out, integers_[kCreatedAt].digits), kKindName);
  out = append(append(out, integers_[kKind].digits), kTagsName);
  const auto prefix_bytes = static_cast<std::size_t>(out - prefix);
  char* const json = tags_begin_ - prefix_bytes;
  std::memcpy(json, prefix, prefix_bytes);
  write_front(json);
  return nullptr;
}

// Header, tag table and expiration, in front of the JSON.
void EventReader::write_front(char* json) {
  PackedEventHeader header{
      .created_at = integers_[kCreatedAt].magnitude,
      .json_bytes = static_cast<std::uint32_t>(out_ - json),
      .content_offset = static_cast<std::uint32_t>(content_begin_ - json),
      .tag_count = static_cast<std::uint32_t>(table_.size()),
      .kind = static_cast<std::uint16_t>(integers_[kKind].magnitude),
      .tags_offset = static_cast<std::uint8_t>(tags_begin_ - json),
      .flags = static_cast<std::uint8_t>((expiration_ ? kHasExpiration : 0) |
                                         (is_protected_ ? kIsProtected : 0)),
  };
  char* front = json;
  if (expiration_) {
    front -= sizeof *expiration_;
    std::memcpy(front, &*expiration_, sizeof *expiration_);
  }
  for (TagEntry& entry : table_) {
    if (entry.has_value()) entry.letter_and_offset += header.tags_offset;
  }
  const std::size_t table_bytes = table_.size() * sizeof(TagEntry);
  front -= table_bytes;
  if (table_bytes != 0) std::memcpy(front, table_.data(), table_bytes);
  front -= sizeof header;
  std::memcpy(front, &header, sizeof header);
  event_ = PackedEventView(reinterpret_cast<const std::uint8_t*>(front));
}

}  // namespace gyre::nostr

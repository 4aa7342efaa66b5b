#include "gyre/nostr/packed_event.h"

#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "gyre/base/assert.h"
#include "nostr/hex_words.h"
#include "nostr/packed_layout.h"

namespace gyre::nostr {
namespace {

// The layout is read with plain loads.
static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kHeaderBytes = sizeof(PackedEventHeader);
constexpr std::size_t kExpirationBytes = sizeof(std::uint64_t);
constexpr std::size_t kSigEndBytes = kSigDigits + kJsonEnd.size();

template <typename Field>
Field load(const std::uint8_t* bytes, std::size_t offset) {
  Field field;
  std::memcpy(&field, bytes + offset, sizeof field);
  return field;
}

std::size_t json_offset(const PackedEventHeader& header) {
  return kHeaderBytes + std::size_t{header.tag_count} * sizeof(TagEntry) +
         ((header.flags & kHasExpiration) != 0 ? kExpirationBytes : 0);
}

// Takes `expected` off the front of `text` if it stands there.
bool take(std::string_view& text, std::string_view expected) {
  if (!text.starts_with(expected)) return false;
  text.remove_prefix(expected.size());
  return true;
}

bool take_hex(std::string_view& text, std::size_t digits) {
  if (!is_lower_hex(text.substr(0, digits), digits)) return false;
  text.remove_prefix(digits);
  return true;
}

bool take_number(std::string_view& text, std::uint64_t value) {
  char digits[20];
  const std::to_chars_result result = std::to_chars(digits, digits + sizeof digits, value);
  return take(text, {digits, static_cast<std::size_t>(result.ptr - digits)});
}

// Everything before the tags, and with it header.tags_offset.
bool check_front(std::string_view json, const PackedEventHeader& header) {
  std::string_view rest = json;
  return take(rest, kIdName) && take_hex(rest, kKeyDigits) && take(rest, kPubkeyName) &&
         take_hex(rest, kKeyDigits) && take(rest, kCreatedAtName) &&
         take_number(rest, header.created_at) && take(rest, kKindName) &&
         take_number(rest, header.kind) && take(rest, kTagsName) &&
         json.size() - rest.size() == header.tags_offset;
}

std::size_t content_end_of(const PackedEventHeader& header) {
  return header.json_bytes - kSigEndBytes - kSigName.size();
}

// The end of the tags, the beginning and the end of content, and the signature.
bool check_back(std::string_view json, const PackedEventHeader& header) {
  const std::size_t content_begin = header.content_offset;
  const std::size_t content_end = content_end_of(header);
  const std::size_t tags_end = content_begin - kContentName.size();
  std::string_view rest = json.substr(content_end);
  return json[header.tags_offset] == '[' && json[tags_end - 1] == ']' &&
         json.substr(tags_end, kContentName.size()) == kContentName && json[content_begin] == '"' &&
         json[content_end - 1] == '"' && take(rest, kSigName) && take_hex(rest, kSigDigits) &&
         rest == kJsonEnd;
}

bool check_entry(std::string_view json, const PackedEventHeader& header, TagEntry entry) {
  if (!is_tag_letter(entry.letter())) return false;
  if (!entry.has_value()) return entry.offset() == 0;
  const std::uint64_t end = std::uint64_t{entry.offset()} + entry.value_bytes;
  const std::size_t tags_end = header.content_offset - kContentName.size();
  // A quote and two brackets follow at least.
  return entry.offset() > header.tags_offset && end + 3 <= tags_end &&
         json[entry.offset() - 1] == '"' && json[end] == '"';
}

// Of tags and content.
bool check_offsets(const PackedEventHeader& header) {
  // Two brackets before content's name, two quotes after it at least.
  return header.content_offset >= header.tags_offset + 2 + kContentName.size() &&
         std::size_t{header.content_offset} + 2 <= content_end_of(header);
}

bool check_header(const PackedEventHeader& header) {
  constexpr std::size_t kJsonBytesMin = kPubkeyOffset + kKeyDigits + kCreatedAtName.size() + 1 +
                                        kKindName.size() + 1 + kTagsName.size() + 2 +
                                        kContentName.size() + 2 + kSigName.size() + kSigEndBytes;
  return header.json_bytes >= kJsonBytesMin && header.json_bytes <= kPackedJsonBytesMax &&
         header.created_at <= std::uint64_t{std::numeric_limits<std::int64_t>::max()} &&
         (header.flags & ~(kHasExpiration | kIsProtected)) == 0;
}

// Index of the first quote at or behind `from` that is not escaped, or npos.
std::size_t find_quote(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('"', from); at != std::string_view::npos;
       at = text.find('"', at + 1)) {
    std::size_t backslashes = 0;
    while (backslashes < at - from && text[at - 1 - backslashes] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return at;
  }
  return std::string_view::npos;
}

// Takes a quoted string off the front of `text`.
std::optional<std::string_view> take_string(std::string_view& text) {
  if (text.empty() || text.front() != '"') return std::nullopt;
  const std::size_t end = find_quote(text, 1);
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view string = text.substr(1, end - 1);
  text.remove_prefix(end + 1);
  return string;
}

}  // namespace

std::optional<PackedEventView> PackedEventView::check(ByteSpan bytes) {
  const auto event = check_bounds(bytes);
  if (!event) return std::nullopt;
  const auto header = load<PackedEventHeader>(bytes.data(), 0);
  const std::string_view json = event->json();
  if (!check_front(json, header) || !check_back(json, header)) return std::nullopt;
  return event;
}

std::optional<PackedEventView> PackedEventView::check_bounds(ByteSpan bytes) {
  if (bytes.size() < kHeaderBytes) return std::nullopt;
  const auto header = load<PackedEventHeader>(bytes.data(), 0);
  if (!check_header(header) || !check_offsets(header)) return std::nullopt;
  if (json_offset(header) + header.json_bytes != bytes.size()) return std::nullopt;
  const PackedEventView event(bytes.data());
  const std::string_view json = event.json();
  for (std::uint32_t i = 0; i < header.tag_count; ++i) {
    if (!check_entry(json, header, event.tag(i))) return std::nullopt;
  }
  return event;
}

std::uint32_t PackedEventView::total_bytes() const {
  const auto header = load<PackedEventHeader>(bytes_, 0);
  return static_cast<std::uint32_t>(json_offset(header) + header.json_bytes);
}

std::uint64_t PackedEventView::created_at() const {
  return load<std::uint64_t>(bytes_, offsetof(PackedEventHeader, created_at));
}

std::uint16_t PackedEventView::kind() const {
  return load<std::uint16_t>(bytes_, offsetof(PackedEventHeader, kind));
}

bool PackedEventView::is_protected() const {
  return (bytes_[offsetof(PackedEventHeader, flags)] & kIsProtected) != 0;
}

std::optional<std::uint64_t> PackedEventView::expiration() const {
  if ((bytes_[offsetof(PackedEventHeader, flags)] & kHasExpiration) == 0) return std::nullopt;
  return load<std::uint64_t>(bytes_, kHeaderBytes + std::size_t{tag_count()} * sizeof(TagEntry));
}

std::string_view PackedEventView::json() const {
  const auto header = load<PackedEventHeader>(bytes_, 0);
  return {reinterpret_cast<const char*>(bytes_) + json_offset(header), header.json_bytes};
}

std::string_view PackedEventView::id_hex() const { return json().substr(kIdOffset, kKeyDigits); }

std::string_view PackedEventView::pubkey_hex() const {
  return json().substr(kPubkeyOffset, kKeyDigits);
}

std::string_view PackedEventView::sig_hex() const {
  const std::string_view text = json();
  return text.substr(text.size() - kSigEndBytes, kSigDigits);
}

Bytes32 PackedEventView::id() const { return decode_hex32(id_hex()); }

Bytes32 PackedEventView::pubkey() const { return decode_hex32(pubkey_hex()); }

std::string_view PackedEventView::tags_json() const {
  const auto header = load<PackedEventHeader>(bytes_, 0);
  const std::size_t end = header.content_offset - kContentName.size();
  return json().substr(header.tags_offset, end - header.tags_offset);
}

std::string_view PackedEventView::content_json() const {
  const auto header = load<PackedEventHeader>(bytes_, 0);
  const std::size_t end = header.json_bytes - kSigEndBytes - kSigName.size();
  return json().substr(header.content_offset, end - header.content_offset);
}

std::uint32_t PackedEventView::tag_count() const {
  return load<std::uint32_t>(bytes_, offsetof(PackedEventHeader, tag_count));
}

TagEntry PackedEventView::tag(std::uint32_t index) const {
  GYRE_ASSERT_CMP(index, <, tag_count());
  return load<TagEntry>(bytes_, kHeaderBytes + std::size_t{index} * sizeof(TagEntry));
}

std::string_view PackedEventView::tag_value(TagEntry entry) const {
  GYRE_ASSERT(entry.has_value());
  return json().substr(entry.offset(), entry.value_bytes);
}

std::string_view PackedEventView::d_tag() const {
  const std::uint32_t count = tag_count();
  for (std::uint32_t i = 0; i < count; ++i) {
    const TagEntry entry = tag(i);
    if (entry.letter() != 'd') continue;
    return entry.has_value() ? tag_value(entry) : std::string_view();
  }
  return {};
}

TagCursor::TagCursor(PackedEventView event) : rest_(event.tags_json()) { rest_.remove_prefix(1); }

// Bytes accepted by PackedEventView::check() may still have a broken tag array inside. The cursor
// then ends early; it never leaves the array.
bool TagCursor::next() {
  name_ = value_ = {};
  has_value_ = false;
  if (!rest_.empty() && rest_.front() == ',') rest_.remove_prefix(1);
  if (!take(rest_, "[")) return false;
  const std::optional<std::string_view> name = take_string(rest_);
  if (!name) return false;
  name_ = *name;
  for (bool is_second = true; take(rest_, ","); is_second = false) {
    const std::optional<std::string_view> item = take_string(rest_);
    if (!item) return false;
    if (!is_second) continue;
    value_ = *item;
    has_value_ = true;
  }
  return take(rest_, "]");
}

}  // namespace gyre::nostr

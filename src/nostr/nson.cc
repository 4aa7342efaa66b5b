#include "gyre/nostr/nson.h"

#include <array>
#include <cstring>
#include <span>

#include "gyre/nostr/json_text.h"
#include "nostr/json_cursor.h"
#include "nostr/json_number.h"
#include "nostr/json_output.h"

namespace gyre::nostr {
namespace {

constexpr std::string_view kIdName = "{\"id\":\"";
constexpr std::string_view kPubkeyName = "\",\"pubkey\":\"";
constexpr std::string_view kSigName = "\",\"sig\":\"";
constexpr std::string_view kCreatedAtName = "\",\"created_at\":";
constexpr std::string_view kNsonName = ",\"nson\":\"";
constexpr std::string_view kKindName = "\",\"kind\":";
constexpr std::string_view kContentName = ",\"content\":\"";
constexpr std::string_view kTagsName = "\",\"tags\":";

constexpr std::size_t kTimeDigits = 10;
constexpr std::size_t kPubkeyAt = kIdName.size() + 64 + kPubkeyName.size();
constexpr std::size_t kSigAt = kPubkeyAt + 64 + kSigName.size();
constexpr std::size_t kCreatedAtAt = kSigAt + 128 + kCreatedAtName.size();
constexpr std::size_t kMarkAt = kCreatedAtAt + kTimeDigits;
constexpr std::size_t kSizeAt = kMarkAt + kNsonName.size();
constexpr std::size_t kDescriptorsAt = kSizeAt + 2;
static_assert(kPubkeyAt == 83 && kSigAt == 156 && kCreatedAtAt == 299 && kMarkAt == 309);
static_assert(kSizeAt == 318 && kDescriptorsAt == 320);

bool stands_at(std::string_view text, std::size_t at, std::string_view part) {
  return text.size() >= at + part.size() &&
         std::memcmp(text.data() + at, part.data(), part.size()) == 0;
}

// Everything up to the descriptors but the values themselves.
bool has_fixed_parts(std::string_view text) {
  return has_nson_mark(text) && stands_at(text, 0, kIdName) &&
         stands_at(text, kPubkeyAt - kPubkeyName.size(), kPubkeyName) &&
         stands_at(text, kSigAt - kSigName.size(), kSigName) &&
         stands_at(text, kCreatedAtAt - kCreatedAtName.size(), kCreatedAtName);
}

// Takes numbers off the descriptors and remembers how many bytes they were.
class DescriptorReader {
 public:
  explicit DescriptorReader(std::string_view text) : text_(text) {}

  // False if there are none left, or no hex.
  template <std::size_t kBytes>
  bool take(std::size_t& value) {
    std::array<std::uint8_t, kBytes> bytes;
    if (text_.size() < at_ + 2 * kBytes) return false;
    if (!hex_decode(text_.substr(at_, 2 * kBytes), bytes.data())) return false;
    at_ += 2 * kBytes;
    value = 0;
    for (const std::uint8_t byte : bytes) value = value << 8 | byte;
    return true;
  }
  [[nodiscard]] std::size_t position() const { return at_; }

 private:
  std::string_view text_;
  std::size_t at_ = kDescriptorsAt;
};

// Where the parts behind the descriptors stand, as these say.
struct Outline {
  std::size_t tag_count = 0;
  std::size_t tag_descriptors_at = 0;
  std::string_view kind;
  std::string_view content;
  std::size_t tags_at = 0;  // Of the opening bracket.
};

// Walks the descriptors to their end, which the size must confirm, and finds kind and content.
bool read_outline(std::string_view text, Outline& outline) {
  std::size_t size = 0;
  std::array<std::uint8_t, 1> size_byte;
  if (text.size() < kDescriptorsAt || !hex_decode(text.substr(kSizeAt, 2), size_byte.data())) {
    return false;
  }
  size = size_byte[0];
  DescriptorReader reader(text);
  std::size_t kind_bytes = 0;
  std::size_t content_bytes = 0;
  if (!reader.take<1>(kind_bytes) || !reader.take<2>(content_bytes) ||
      !reader.take<1>(outline.tag_count)) {
    return false;
  }
  outline.tag_descriptors_at = reader.position();
  for (std::size_t tag = 0; tag < outline.tag_count; ++tag) {
    std::size_t item_count = 0;
    std::size_t item_bytes = 0;
    if (!reader.take<1>(item_count)) return false;
    for (; item_count != 0; --item_count) {
      if (!reader.take<2>(item_bytes)) return false;
    }
  }
  const std::size_t hex_chars = reader.position() - kDescriptorsAt;
  if (size != hex_chars && 2 * size != hex_chars) return false;

  const std::size_t kind_at = reader.position() + kKindName.size();
  const std::size_t content_at = kind_at + kind_bytes + kContentName.size();
  outline.tags_at = content_at + content_bytes + kTagsName.size();
  if (text.size() < outline.tags_at) return false;
  outline.kind = text.substr(kind_at, kind_bytes);
  outline.content = text.substr(content_at, content_bytes);
  return stands_at(text, reader.position(), kKindName) &&
         stands_at(text, kind_at + kind_bytes, kContentName) &&
         stands_at(text, content_at + content_bytes, kTagsName);
}

// The text between two quotes: no quote but escaped ones, so that another reader sees its end in
// the same place.
DecodeError check_between_quotes(std::string_view text, RawString& string) {
  JsonCursor cursor({text.data() - 1, text.size() + 2});
  if (!cursor.take_string(string) || string.text.size() != text.size()) {
    return DecodeError::kBadDescriptor;
  }
  return DecodeError::kNone;
}

DecodeError append_item(std::string_view text, StringList& items) {
  RawString string;
  DecodeError error = check_between_quotes(text, string);
  if (error != DecodeError::kNone) return error;
  if (!string.has_escape) {
    items.append(text);
    return error;
  }
  items.append_with(text.size(), [&](char* out) {
    error = decode_string(string, out);
    return out;
  });
  return error;
}

bool read_number(std::string_view digits, std::uint64_t max, std::uint64_t& value) {
  const IntegerToken token = parse_integer(digits);
  if (!token.is_integer || token.is_negative || !token.fits || token.digits != digits) return false;
  value = token.magnitude;
  return value <= max;
}

bool read_hex(std::string_view text, std::size_t at, std::span<std::uint8_t> out) {
  return text.size() >= at + 2 * out.size() &&
         hex_decode(text.substr(at, 2 * out.size()), out.data());
}

// Follows the descriptors through the tags; `at` ends behind the closing bracket of all.
DecodeError read_tags(std::string_view text, const Outline& outline, TagList& tags,
                      std::size_t& at) {
  DescriptorReader reader(text.substr(0, outline.tags_at));
  std::size_t ignored = 0;
  // Over the four bytes in front, which read_outline() has found to be there.
  static_cast<void>(reader.take<2>(ignored) && reader.take<2>(ignored));
  tags.clear();
  at = outline.tags_at;
  for (std::size_t tag = 0; tag < outline.tag_count; ++tag) {
    std::size_t item_count = 0;
    if (!stands_at(text, at, tag == 0 ? "[" : ",") || !reader.take<1>(item_count)) {
      return DecodeError::kBadDescriptor;
    }
    if (item_count == 0) return DecodeError::kBadTags;
    ++at;
    for (std::size_t item = 0; item < item_count; ++item) {
      std::size_t bytes = 0;
      if (!reader.take<2>(bytes) || !stands_at(text, at, item == 0 ? "[\"" : ",\"")) {
        return DecodeError::kBadDescriptor;
      }
      at += 2;
      // Room for the closing quote, too.
      if (text.size() <= at + bytes) return DecodeError::kBadDescriptor;
      const DecodeError error = append_item(text.substr(at, bytes), tags.items());
      if (error != DecodeError::kNone) return error;
      at += bytes + 1;
    }
    if (!stands_at(text, at, "]")) return DecodeError::kBadDescriptor;
    ++at;
    tags.end_tag();
  }
  const std::string_view end = outline.tag_count == 0 ? "[]" : "]";
  if (!stands_at(text, at, end)) return DecodeError::kBadDescriptor;
  at += end.size();
  return DecodeError::kNone;
}

DecodeError read_values(std::string_view text, const Outline& outline, Event& event) {
  std::uint64_t kind = 0;
  if (!read_hex(text, kIdName.size(), event.id.bytes) ||
      !read_hex(text, kPubkeyAt, event.pubkey.bytes) || !read_hex(text, kSigAt, event.sig)) {
    return DecodeError::kBadHex;
  }
  if (!read_number(text.substr(kCreatedAtAt, kTimeDigits), kCreatedAtMax, event.created_at) ||
      !read_number(outline.kind, 0xffff, kind)) {
    return DecodeError::kBadNumber;
  }
  event.kind = static_cast<std::uint16_t>(kind);
  RawString content;
  const DecodeError error = check_between_quotes(outline.content, content);
  return error == DecodeError::kNone ? decode_string(content, event.content) : error;
}

// What descriptors say of a text, and whether NSON has a form for it.
DecodeError measure(std::string_view text, std::size_t& bytes) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return DecodeError::kBadCharacter;
  }
  bytes = escaped_bytes(text);
  return bytes <= 0xffff ? DecodeError::kNone : DecodeError::kTooLong;
}

class DescriptorWriter {
 public:
  template <std::size_t kBytes>
  DecodeError put(std::size_t value) {
    if (used_ + kBytes > bytes_.size() || value >> (8 * kBytes) != 0) return DecodeError::kTooLong;
    for (std::size_t i = kBytes; i-- > 0;) {
      bytes_[used_++] = static_cast<std::uint8_t>(value >> (8 * i));
    }
    return DecodeError::kNone;
  }
  DecodeError put_text(std::string_view text) {
    std::size_t bytes = 0;
    const DecodeError error = measure(text, bytes);
    return error == DecodeError::kNone ? put<2>(bytes) : error;
  }
  [[nodiscard]] ByteSpan bytes() const { return {bytes_.data(), used_}; }

 private:
  std::array<std::uint8_t, kNsonDescriptorBytesMax> bytes_;
  std::size_t used_ = 0;
};

DecodeError describe_event(const Event& event, DescriptorWriter& out) {
  DecodeError error = out.put<1>(decimal_digits(event.kind));
  if (error == DecodeError::kNone) error = out.put_text(event.content);
  if (error == DecodeError::kNone) error = out.put<1>(event.tags.size());
  for (const TagView tag : event.tags) {
    if (error == DecodeError::kNone) error = out.put<1>(tag.size());
    for (std::size_t i = 0; i < tag.size() && error == DecodeError::kNone; ++i) {
      error = out.put_text(tag[i]);
    }
    if (error != DecodeError::kNone) return error;
  }
  return error;
}

}  // namespace

DecodeError append_nson(const Event& event, std::string& out) {
  if (decimal_digits(event.created_at) != kTimeDigits) return DecodeError::kBadNumber;
  DescriptorWriter descriptors;
  const DecodeError error = describe_event(event, descriptors);
  if (error != DecodeError::kNone) return error;
  // Beside the descriptors it has the members of JSON, and the mark in front of them.
  const std::size_t hex_chars = 2 * descriptors.bytes().size();
  const std::size_t bytes = json_bytes(event) + kNsonName.size() + 2 + hex_chars + 1;
  append_bytes(out, bytes, [&](char* at) {
    JsonOutput output(at);
    output.put(kIdName);
    output.put_hex(event.id.bytes);
    output.put(kPubkeyName);
    output.put_hex(event.pubkey.bytes);
    output.put(kSigName);
    output.put_hex(event.sig);
    output.put(kCreatedAtName);
    output.put_number(event.created_at);
    output.put(kNsonName);
    const auto size = static_cast<std::uint8_t>(hex_chars);
    output.put_hex({&size, 1});
    output.put_hex(descriptors.bytes());
    output.put(kKindName);
    output.put_number(event.kind);
    output.put(kContentName.substr(0, kContentName.size() - 1));
    output.put_quoted(event.content);
    output.put(kTagsName.substr(1));
    put_tags(output, event.tags);
    output.put('}');
    return output.end();
  });
  return DecodeError::kNone;
}

bool has_nson_mark(std::string_view text) { return stands_at(text, kMarkAt, kNsonName); }

DecodeError parse_nson(std::string_view text, Event& event) {
  if (!has_nson_mark(text)) return DecodeError::kNotNson;
  if (!is_valid_utf8(text)) return DecodeError::kNotUtf8;
  Outline outline;
  if (!has_fixed_parts(text) || !read_outline(text, outline)) return DecodeError::kBadDescriptor;
  DecodeError error = read_values(text, outline, event);
  if (error != DecodeError::kNone) return error;
  std::size_t at = 0;
  error = read_tags(text, outline, event.tags, at);
  if (error != DecodeError::kNone) return error;
  if (!stands_at(text, at, "}") || text.size() != at + 1) {
    // More members: rare, and as plain JSON they can be anything.
    error = parse_event(text, event);
    if (error != DecodeError::kNone) return error;
  }
  return has_right_id(event) ? DecodeError::kNone : DecodeError::kWrongId;
}

DecodeError parse_nson_or_json(std::string_view text, Event& event) {
  if (parse_nson(text, event) == DecodeError::kNone) return DecodeError::kNone;
  const DecodeError error = parse_event(text, event);
  if (error != DecodeError::kNone) return error;
  return has_right_id(event) ? DecodeError::kNone : DecodeError::kWrongId;
}

std::optional<NsonView> NsonView::open(std::string_view text) {
  Outline outline;
  if (!has_fixed_parts(text) || !read_outline(text, outline)) return std::nullopt;
  NsonView view;
  view.text_ = text;
  view.kind_ = outline.kind;
  view.content_ = outline.content;
  return view;
}

std::optional<Bytes32> NsonView::id() const {
  Bytes32 id;
  return read_hex(text_, kIdName.size(), id.bytes) ? std::optional(id) : std::nullopt;
}

std::optional<Bytes32> NsonView::pubkey() const {
  Bytes32 pubkey;
  return read_hex(text_, kPubkeyAt, pubkey.bytes) ? std::optional(pubkey) : std::nullopt;
}

std::optional<Signature> NsonView::sig() const {
  Signature sig;
  return read_hex(text_, kSigAt, sig) ? std::optional(sig) : std::nullopt;
}

std::optional<std::uint64_t> NsonView::created_at() const {
  std::uint64_t value = 0;
  if (!read_number(text_.substr(kCreatedAtAt, kTimeDigits), kCreatedAtMax, value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::uint16_t> NsonView::kind() const {
  std::uint64_t value = 0;
  if (!read_number(kind_, 0xffff, value)) return std::nullopt;
  return static_cast<std::uint16_t>(value);
}

DecodeError NsonView::content(std::string& content) const {
  if (!is_valid_utf8(content_)) return DecodeError::kNotUtf8;
  RawString string;
  const DecodeError error = check_between_quotes(content_, string);
  return error == DecodeError::kNone ? decode_string(string, content) : error;
}

}  // namespace gyre::nostr

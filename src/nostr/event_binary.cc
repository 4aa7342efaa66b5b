#include "gyre/nostr/event_binary.h"

#include <bit>
#include <cstring>

#include "gyre/nostr/json_text.h"

namespace gyre::nostr {
namespace {

constexpr std::size_t kVarintBytesMax = 10;
constexpr std::uint8_t kLastByte = 0x80;

std::size_t varint_bytes(std::uint64_t value) {
  // Seven bits a byte; zero takes one too.
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

std::uint8_t* write_varint(std::uint64_t value, std::uint8_t* out) {
  for (; value >= 0x80; value >>= 7) *out++ = static_cast<std::uint8_t>(value & 0x7f);
  *out++ = static_cast<std::uint8_t>(value | kLastByte);
  return out;
}

std::uint8_t* write_bytes(std::string_view bytes, std::uint8_t* out) {
  if (!bytes.empty()) std::memcpy(out, bytes.data(), bytes.size());
  return out + bytes.size();
}

std::uint8_t* write_text(std::string_view text, std::uint8_t* out) {
  return write_bytes(text, write_varint(text.size(), out));
}

class BinaryReader {
 public:
  explicit BinaryReader(ByteSpan bytes) : rest_(bytes) {}

  DecodeError take_bytes(std::span<std::uint8_t> out) {
    if (rest_.size() < out.size()) return DecodeError::kTooShort;
    std::memcpy(out.data(), rest_.data(), out.size());
    rest_ = rest_.subspan(out.size());
    return DecodeError::kNone;
  }

  DecodeError take_number(std::uint64_t max, std::uint64_t& value) {
    value = 0;
    for (std::size_t i = 0; i < kVarintBytesMax; ++i) {
      if (i == rest_.size()) return DecodeError::kTooShort;
      const std::uint8_t byte = rest_[i];
      const std::uint64_t digit = byte & 0x7f;
      const std::size_t shift = 7 * i;
      // The tenth digit has one bit left.
      if (shift == 63 && digit > 1) return DecodeError::kBadVarint;
      value |= digit << shift;
      if ((byte & kLastByte) == 0) continue;
      if (digit == 0 && i != 0) return DecodeError::kBadVarint;
      rest_ = rest_.subspan(i + 1);
      return value <= max ? DecodeError::kNone : DecodeError::kBadNumber;
    }
    return DecodeError::kBadVarint;
  }

  // Valid as long as the bytes are.
  DecodeError take_text(std::string_view& text) {
    std::uint64_t bytes = 0;
    const DecodeError error = take_number(~std::uint64_t{0}, bytes);
    if (error != DecodeError::kNone) return error;
    if (bytes > rest_.size()) return DecodeError::kTooShort;
    text = as_text(rest_.first(static_cast<std::size_t>(bytes)));
    rest_ = rest_.subspan(text.size());
    return is_valid_utf8(text) ? DecodeError::kNone : DecodeError::kNotUtf8;
  }

  DecodeError take_tag(TagList& tags) {
    std::uint64_t item_count = 0;
    DecodeError error = take_number(rest_.size(), item_count);
    if (error != DecodeError::kNone) return error;
    if (item_count == 0) return DecodeError::kBadTags;
    for (; item_count != 0; --item_count) {
      std::string_view item;
      error = take_text(item);
      if (error != DecodeError::kNone) return error;
      tags.items().append(item);
    }
    tags.end_tag();
    return DecodeError::kNone;
  }

  [[nodiscard]] std::size_t size() const { return rest_.size(); }

 private:
  ByteSpan rest_;
};

DecodeError read_front(BinaryReader& reader, Event& event) {
  DecodeError error = reader.take_bytes(event.id.bytes);
  if (error == DecodeError::kNone) error = reader.take_bytes(event.pubkey.bytes);
  if (error == DecodeError::kNone) error = reader.take_number(kCreatedAtMax, event.created_at);
  std::uint64_t kind = 0;
  if (error == DecodeError::kNone) error = reader.take_number(0xffff, kind);
  event.kind = static_cast<std::uint16_t>(kind);
  return error;
}

DecodeError read_back(BinaryReader& reader, Event& event) {
  std::string_view content;
  const DecodeError error = reader.take_text(content);
  if (error != DecodeError::kNone) return error;
  event.content.assign(content);
  return reader.take_bytes(event.sig);
}

}  // namespace

std::size_t binary_bytes(const Event& event) {
  std::size_t bytes = 32 + 32 + varint_bytes(event.created_at) + varint_bytes(event.kind) +
                      varint_bytes(event.tags.size());
  bytes += event.tags.text_bytes();
  for (const TagView tag : event.tags) {
    bytes += varint_bytes(tag.size());
    for (std::size_t i = 0; i < tag.size(); ++i) bytes += varint_bytes(tag[i].size());
  }
  return bytes + varint_bytes(event.content.size()) + event.content.size() + event.sig.size();
}

std::uint8_t* write_binary(const Event& event, std::uint8_t* out) {
  out = write_bytes(as_text(event.id.bytes), out);
  out = write_bytes(as_text(event.pubkey.bytes), out);
  out = write_varint(event.created_at, out);
  out = write_varint(event.kind, out);
  out = write_varint(event.tags.size(), out);
  for (const TagView tag : event.tags) {
    out = write_varint(tag.size(), out);
    for (std::size_t i = 0; i < tag.size(); ++i) out = write_text(tag[i], out);
  }
  out = write_text(event.content, out);
  return write_bytes(as_text(event.sig), out);
}

void append_binary(const Event& event, std::vector<std::uint8_t>& out) {
  const std::size_t before = out.size();
  out.resize(before + binary_bytes(event));
  write_binary(event, out.data() + before);
}

DecodeError parse_binary(ByteSpan bytes, Event& event) {
  if (bytes.size() > StringList::kTextBytesMax) return DecodeError::kTooLong;
  BinaryReader reader(bytes);
  event.tags.clear();
  DecodeError error = read_front(reader, event);
  if (error != DecodeError::kNone) return error;
  std::uint64_t tag_count = 0;
  error = reader.take_number(reader.size(), tag_count);
  for (; error == DecodeError::kNone && tag_count != 0; --tag_count) {
    error = reader.take_tag(event.tags);
  }
  if (error == DecodeError::kNone) error = read_back(reader, event);
  if (error != DecodeError::kNone) return error;
  return reader.size() == 0 ? DecodeError::kNone : DecodeError::kTrailingBytes;
}

}  // namespace gyre::nostr

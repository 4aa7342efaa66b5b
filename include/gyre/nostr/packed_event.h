// PackedEvent: the one form an event has inside gyre, from the parser to the disk to the socket.
//
// It is the event's JSON exactly as it will be served, minified, in one fixed member order, behind
// a small header and a table of the single-letter tags:
//
//     header | tag table | expiration (only if kHasExpiration) | JSON
//
//     {"id":"<64>","pubkey":"<64>","created_at":<n>,"kind":<n>,"tags":[...],"content":"...",
//      "sig":"<128>"}     (one line, no blanks)
//
// id and pubkey stand at fixed offsets from the front of the JSON, sig at a fixed one from its end;
// the header tells where tags and content begin. Serving copies bytes, matching reads them in
// place.
//
// Strings are escaped canonically (NIP-01 serialisation plus \u00xx in lower case for the remaining
// controls), here and in compiled filters, so equality of text is equality of bytes and the id's
// preimage consists of slices of the JSON.
//
// All integers are little-endian. The same bytes are the payload of a log record
// (storage/FORMAT.md), so this layout changes only together with the store's version.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "gyre/base/bytes.h"

namespace gyre::nostr {

struct PackedEventHeader {
  std::uint64_t created_at;  // 0 ... 2^63 - 1
  std::uint32_t json_bytes;
  std::uint32_t content_offset;  // Of content's opening quote, from the start of the JSON.
  std::uint32_t tag_count;       // Entries of the tag table.
  std::uint16_t kind;
  std::uint8_t tags_offset;  // Of the tags' '[', from the start of the JSON.
  std::uint8_t flags;        // PackedEventFlags
};
static_assert(sizeof(PackedEventHeader) == 24);

enum PackedEventFlags : std::uint8_t {
  // NIP-40: the first expiration tag's value stands after the tag table. Events whose value is no
  // number are refused, except ephemeral ones, where the tag means nothing: they lack the flag.
  kHasExpiration = 1,
  kIsProtected = 2,  // NIP-70: has a tag named "-".
};

// One tag whose name is a single letter a-zA-Z, in the order of the event. Tags such as ["t"],
// which have a name and no value, are listed with kNoValue: they match nothing, but a first ["d"]
// decides an address.
struct TagEntry {
  static constexpr std::uint32_t kNoValue = 0xffff'ffff;
  std::uint32_t letter_and_offset;  // letter << 24 | offset of the value's text in the JSON, or 0
  std::uint32_t value_bytes;        // Of the escaped text between the quotes, or kNoValue.

  [[nodiscard]] char letter() const { return static_cast<char>(letter_and_offset >> 24); }
  [[nodiscard]] std::uint32_t offset() const { return letter_and_offset & 0x00ff'ffff; }
  [[nodiscard]] bool has_value() const { return value_bytes != kNoValue; }
};
static_assert(sizeof(TagEntry) == 8);

inline constexpr std::uint32_t kPackedJsonBytesMax = 0x00ff'ffff;    // Offsets have 24 bits.
inline constexpr std::uint32_t kIdOffset = 7;                        // After {"id":"
inline constexpr std::uint32_t kPubkeyOffset = kIdOffset + 64 + 12;  // After ","pubkey":"

// A view into packed bytes owned by somebody else; as cheap to copy as a pointer. The bytes need no
// alignment. All string_views returned point into the JSON and are canonically escaped text.
class PackedEventView {
 public:
  PackedEventView() = default;

  // `bytes` must be well formed: produced by MessageParser, or accepted by check().
  explicit PackedEventView(const std::uint8_t* bytes) : bytes_(bytes) {}

  // Accepts bytes of doubtful origin (a disk) if every offset and length lies inside, the fixed
  // parts of the JSON stand where they must, and total_bytes() == bytes.size(). Says nothing
  // about the id or the signature.
  [[nodiscard]] static std::optional<PackedEventView> check(ByteSpan bytes);
  // The same for bytes that a checksum says are those which were written: every offset and length
  // lies inside, so no function here leaves the bytes. The text is not looked at, which is most of
  // what check() costs.
  [[nodiscard]] static std::optional<PackedEventView> check_bounds(ByteSpan bytes);

  [[nodiscard]] bool is_null() const { return bytes_ == nullptr; }
  [[nodiscard]] ByteSpan bytes() const { return {bytes_, total_bytes()}; }
  [[nodiscard]] std::uint32_t total_bytes() const;
  [[nodiscard]] std::uint64_t created_at() const;
  [[nodiscard]] std::uint16_t kind() const;
  [[nodiscard]] bool is_protected() const;
  [[nodiscard]] std::optional<std::uint64_t> expiration() const;

  [[nodiscard]] std::string_view json() const;
  [[nodiscard]] std::string_view id_hex() const;
  [[nodiscard]] std::string_view pubkey_hex() const;
  [[nodiscard]] std::string_view sig_hex() const;
  [[nodiscard]] Bytes32 id() const;
  [[nodiscard]] Bytes32 pubkey() const;
  [[nodiscard]] std::string_view tags_json() const;     // From '[' to ']'.
  [[nodiscard]] std::string_view content_json() const;  // From '"' to '"'.

  [[nodiscard]] std::uint32_t tag_count() const;
  [[nodiscard]] TagEntry tag(std::uint32_t index) const;
  // Requires: entry.has_value().
  [[nodiscard]] std::string_view tag_value(TagEntry entry) const;

  // The value that names an addressable event: second item of the first tag named d, else "".
  [[nodiscard]] std::string_view d_tag() const;

 private:
  const std::uint8_t* bytes_ = nullptr;
};

// Walks every tag of an event, also those with longer names (relay, challenge, expiration ...).
// Usage: TagCursor cursor(event); while (cursor.next()) { cursor.name(); cursor.value(); }
class TagCursor {
 public:
  explicit TagCursor(PackedEventView event);
  [[nodiscard]] bool next();  // False after the last tag.
  [[nodiscard]] std::string_view name() const { return name_; }
  [[nodiscard]] bool has_value() const { return has_value_; }
  [[nodiscard]] std::string_view value() const { return value_; }  // Second item, or "".

 private:
  std::string_view rest_;
  std::string_view name_;
  std::string_view value_;
  bool has_value_ = false;
};

}  // namespace gyre::nostr

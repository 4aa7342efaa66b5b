// NSON: events as JSON in a fixed order, with a member that tells where everything stands (draft
// NIP-93), so that a reader need not look for it:
//
//     {"id":"<64>","pubkey":"<64>","sig":"<128>","created_at":<10>,"nson":"<size><descriptors>",
//      "kind":<n>,"content":"...","tags":[["...",...],...]}     (one line, no blanks)
//
// Descriptors are bytes in hex: length of kind 1, of content 2, number of tags 1; for each tag its
// number of items 1, for each item its length 2. Lengths are bytes of the escaped text between the
// quotes, most significant first. The size is the number of hex characters of the descriptors
// (draft) or of their bytes (go-nostr); the first is written, both are read.
//
// It is JSON as well: parse_event() reads it. Nothing that the descriptors say is believed before
// the text has been found to agree, so both readers see the same event, and an event whose id is
// not the hash of what was read is refused.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "gyre/base/bytes.h"
#include "gyre/nostr/decode_error.h"
#include "gyre/nostr/event.h"
#include "gyre/nostr/signature.h"

namespace gyre::nostr {

// 255 characters of hex, whole bytes: what the size can say.
inline constexpr std::size_t kNsonDescriptorBytesMax = 127;

// Appends the event. What has no form is refused, and `out` is as it was: times of other than ten
// digits (kBadNumber), control characters other than a line feed (kBadCharacter), more than
// kNsonDescriptorBytesMax descriptors or texts above 65535 bytes (kTooLong). Send JSON then.
DecodeError append_nson(const Event& event, std::string& out);

// Whether the mark of NSON stands where it must. Says nothing else.
[[nodiscard]] bool has_nson_mark(std::string_view text);

// kNotNson without the mark; kBadDescriptor, and others, if text and descriptors do not agree;
// kWrongId. Members behind the tags are allowed and dropped.
DecodeError parse_nson(std::string_view text, Event& event);

// NSON if it is sound, else JSON; kWrongId in both cases if the id is not the hash. What a reader
// calls who may be sent either.
DecodeError parse_nson_or_json(std::string_view text, Event& event);

// Single members, without reading the rest. The text is checked as far as it is read, and only so
// far: nothing says that the id is right.
class NsonView {
 public:
  // Nothing without the mark, or if the fixed parts are not in their places or the descriptors lead
  // outside the text. `text` must outlive the view.
  [[nodiscard]] static std::optional<NsonView> open(std::string_view text);

  [[nodiscard]] std::optional<Bytes32> id() const;
  [[nodiscard]] std::optional<Bytes32> pubkey() const;
  [[nodiscard]] std::optional<Signature> sig() const;
  [[nodiscard]] std::optional<std::uint64_t> created_at() const;
  [[nodiscard]] std::optional<std::uint16_t> kind() const;
  // Replaces what `content` holds.
  DecodeError content(std::string& content) const;

 private:
  NsonView() = default;

  std::string_view text_;
  std::string_view kind_;
  std::string_view content_;  // Escaped.
};

}  // namespace gyre::nostr

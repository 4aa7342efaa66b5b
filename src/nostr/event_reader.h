// EventReader: one event object of a JSON text to packed bytes, in one pass.
//
// Tags are written to their final place while they are read. Everything before them (whose length
// depends on the digits of created_at and kind, and on the number of single-letter tags) is put in
// front once it is known, so the members may come in any order and nothing is moved:
//
//     ... free | header | tag table | expiration | {"id": ... "tags": | [...],"content": ... | free
//                                                                      ^ tags_begin_
//
// One reader belongs to one parser and reuses its buffer.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/packed_event.h"
#include "nostr/fault.h"
#include "nostr/json_number.h"
#include "nostr/ondemand.h"

namespace gyre::nostr {

class EventReader {
 public:
  explicit EventReader(const MessageLimits& limits);

  // Reads `object`, which stands inside of `level` containers, itself counted. On success event()
  // is well formed and its id is right.
  [[nodiscard]] Fault read(ondemand::object& object, std::uint32_t level,
                           const TextContext& context);

  // Valid after a successful read, until the next one.
  [[nodiscard]] PackedEventView event() const { return event_; }

 private:
  enum Member : std::uint8_t { kId, kPubkey, kCreatedAt, kKind, kTags, kContent, kSig, kUnknown };
  static constexpr std::size_t kMemberCount = kUnknown;

  struct Item {
    char* begin = nullptr;
    char* end = nullptr;
    [[nodiscard]] std::string_view text() const {
      return {begin, static_cast<std::size_t>(end - begin)};
    }
  };
  struct Tag {
    std::uint32_t item_count = 0;
    Item name;
    Item value;
  };

  void start(const TextContext& context);
  [[nodiscard]] static Member member_of(std::string_view name);
  [[nodiscard]] Fault read_field(ondemand::field& field, std::uint32_t level);
  [[nodiscard]] Fault read_unknown(std::string_view name, ondemand::value& value,
                                   std::uint32_t level);
  [[nodiscard]] Fault read_integer(Member member, ondemand::value& value);
  [[nodiscard]] Fault read_string(Member member, ondemand::value& value);
  [[nodiscard]] Fault read_tags(ondemand::value& value);
  [[nodiscard]] Fault read_tag(ondemand::array& items);
  void note_tag(const Tag& tag);

  // After the last member.
  [[nodiscard]] Fault finish();
  [[nodiscard]] Fault check_integers() const;
  [[nodiscard]] Fault write_rest();
  [[nodiscard]] Fault write_prefix();
  void write_front(char* json);
  [[nodiscard]] Fault settle_expiration();

  MessageLimits limits_;
  std::unique_ptr<char[]> buffer_;
  char* tags_begin_;

  // Of the event being read.
  TextContext context_{};
  std::uint32_t seen_ = 0;                             // Bit for each Member.
  std::array<const char*, kMemberCount> strings_{};    // Raw text of id, pubkey, content, sig.
  std::array<IntegerToken, kMemberCount> integers_{};  // created_at, kind.
  char* out_ = nullptr;  // Behind what was written from tags_begin_ on.
  char* tags_end_ = nullptr;
  char* content_begin_ = nullptr;  // Its opening quote.
  std::uint32_t tag_total_ = 0;    // All tags, whatever their name.
  std::vector<TagEntry> table_;    // Offsets count from tags_begin_ until write_front().
  std::optional<std::string_view> expiration_text_;
  std::optional<std::uint64_t> expiration_;
  bool is_protected_ = false;
  absl::flat_hash_set<std::string> unknown_names_;
  PackedEventView event_;
};

}  // namespace gyre::nostr

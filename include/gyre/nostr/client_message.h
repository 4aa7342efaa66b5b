// MessageParser: the text of one WebSocket message to one ClientMessage. Pure: no I/O, no clock.
//
// Strict JSON (nips.md section 2) on simdjson's On-Demand parser. One parser belongs to one shard
// and reuses its buffers, so a result lives until the next parse. Nothing here aborts on input.
//
// An EVENT or AUTH that comes out as such is well formed, within the limits, and its id is the
// SHA-256 of its canonical form; its signature has NOT been looked at.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/base/error.h"
#include "gyre/nostr/filter.h"
#include "gyre/nostr/packed_event.h"

namespace gyre::nostr {

struct MessageLimits {
  std::uint32_t message_bytes_max = 512 * 1024;
  std::uint32_t event_tags_max = 5'000;
  std::uint32_t content_chars_max = 512 * 1024;  // Unicode code points.
  std::uint32_t subscription_id_chars_max = 64;  // Code points.
  std::uint32_t filters_max = 200;               // Of one REQ or COUNT.
  std::uint32_t filter_values_max = 5'000;       // Of one list of a filter.
  std::uint32_t filter_tags_max = 20;            // '#' members of one filter.
};

enum class MessageKind : std::uint8_t {
  kEvent,       // event
  kAuth,        // event (any kind: the session checks it)
  kReq,         // subscription_id, filters
  kCount,       // subscription_id (the query id), filters
  kClose,       // subscription_id
  kBadEvent,    // -> OK false: event_id, refusal (an EVENT or AUTH whose id can be echoed)
  kBadRequest,  // -> CLOSED: subscription_id, refusal (REQ or COUNT)
  kBad,         // -> NOTICE: refusal
};

struct ClientMessage {
  MessageKind kind = MessageKind::kBad;
  PackedEventView event;             // kEvent, kAuth: points into the parser until its next parse.
  std::string_view event_id;         // kBadEvent: as sent, canonically escaped, at most 128 bytes.
  std::string_view subscription_id;  // Canonically escaped, ready to be echoed between quotes.
  std::vector<Filter> filters;       // kReq, kCount: at least one. The caller may move it out.
  MessageKind request_kind = MessageKind::kReq;  // kBadRequest: whether it was kReq or kCount.
  Refusal refusal;
};

class MessageParser {
 public:
  explicit MessageParser(const MessageLimits& limits);
  ~MessageParser();
  MessageParser(MessageParser&&) noexcept;
  MessageParser& operator=(MessageParser&&) noexcept;

  // Bytes that must be readable (any value) behind every text given to parse.
  static constexpr std::size_t kPadding = 64;

  // `text` is valid UTF-8 and followed by kPadding readable bytes. Unknown filter members give
  // kUnsupported; all other faults kInvalid.
  [[nodiscard]] const ClientMessage& parse(std::string_view text);

  // The same for one event object alone (a line of `gyre import`): kEvent, kBadEvent or kBad.
  [[nodiscard]] const ClientMessage& parse_event(std::string_view text);

  // One filter object alone (`gyre export --filter`): kReq with one filter, kBadRequest or kBad.
  [[nodiscard]] const ClientMessage& parse_filter(std::string_view text);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gyre::nostr

// Any text as one message of a client. The parser must agree with simdjson's DOM on what is JSON,
// and whatever it lets through must keep the promises of its header.

#include <fuzzer/FuzzedDataProvider.h>
#include <simdjson.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "gyre/base/assert.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/relay_message.h"
#include "gyre/nostr/verify.h"
#include "support/padded_text.h"

namespace gyre::nostr {
namespace {

// The DOM refuses numbers out of its range; for us they are JSON as long as nobody needs them.
bool may_hold_large_number(std::string_view text) {
  std::size_t digits = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool is_digit = std::isdigit(static_cast<unsigned char>(text[i])) != 0;
    if (is_digit && ++digits >= 19) return true;
    if (!is_digit) digits = 0;
    if ((text[i] == 'e' || text[i] == 'E') && i > 0 &&
        std::isdigit(static_cast<unsigned char>(text[i - 1])) != 0) {
      return true;
    }
  }
  return false;
}

void check_agreement(const ClientMessage& message, std::string_view text) {
  simdjson::dom::parser dom;
  const simdjson::error_code error = dom.parse(text.data(), text.size()).error();
  if (error == simdjson::NUMBER_ERROR && may_hold_large_number(text)) return;
  if (message.kind == MessageKind::kBadEvent || message.kind == MessageKind::kBadRequest) {
    // A string with half a surrogate pair is an error for the DOM.
    GYRE_ASSERT(error == simdjson::SUCCESS || error == simdjson::STRING_ERROR);
  } else if (message.kind != MessageKind::kBad) {
    GYRE_ASSERT(error == simdjson::SUCCESS);
  } else if (message.refusal.text == "not valid JSON") {
    GYRE_ASSERT(error != simdjson::SUCCESS);
  }
}

void check_event(MessageParser& other, PackedEventView event) {
  const ByteSpan bytes = event.bytes();
  GYRE_ASSERT(PackedEventView::check(bytes).has_value());
  GYRE_ASSERT(compute_id(event) == event.id());
  std::size_t single_letter_tags = 0;
  TagCursor cursor(event);
  while (cursor.next()) {
    single_letter_tags +=
        cursor.name().size() == 1 && std::isalpha(static_cast<unsigned char>(cursor.name()[0])) != 0
            ? 1
            : 0;
  }
  GYRE_ASSERT_CMP(single_letter_tags, ==, event.tag_count());

  const std::string again = "[\"EVENT\"," + std::string(event.json()) + "]";
  const test::PaddedText padded(again, ']');
  const ClientMessage& message = other.parse(padded.view());
  GYRE_ASSERT(message.kind == MessageKind::kEvent);
  const ByteSpan repeated = message.event.bytes();
  GYRE_ASSERT(std::equal(bytes.begin(), bytes.end(), repeated.begin(), repeated.end()));
}

// What is echoed must be a JSON string as it stands.
void check_echo(std::string_view id_escaped, std::size_t bytes_max) {
  GYRE_ASSERT_CMP(id_escaped.size(), <=, bytes_max);
  std::string answer;
  append_ok(answer, id_escaped, false, {Prefix::kInvalid, "fuzz"});
  simdjson::dom::parser dom;
  std::string_view echoed;
  GYRE_ASSERT(dom.parse(answer).at(1).get(echoed) == simdjson::SUCCESS);
  std::string canonical;
  append_escaped(echoed, canonical);
  GYRE_ASSERT(canonical == id_escaped);
  GYRE_ASSERT(unescape(id_escaped) == echoed);
}

void check_message(MessageParser& other, const ClientMessage& message) {
  switch (message.kind) {
    case MessageKind::kEvent:
    case MessageKind::kAuth: check_event(other, message.event); break;
    case MessageKind::kReq:
    case MessageKind::kCount:
      GYRE_ASSERT(!message.filters.empty());
      GYRE_ASSERT(!message.subscription_id.empty());
      check_echo(message.subscription_id, 64 * 6);
      break;
    case MessageKind::kClose:
      check_echo(message.subscription_id, message.subscription_id.size());
      break;
    case MessageKind::kBadEvent: check_echo(message.event_id, 128); break;
    case MessageKind::kBadRequest: check_echo(message.subscription_id, 256); break;
    case MessageKind::kBad: break;
  }
  const bool is_refused = message.kind == MessageKind::kBad ||
                          message.kind == MessageKind::kBadEvent ||
                          message.kind == MessageKind::kBadRequest;
  GYRE_ASSERT_CMP(is_refused, ==, !message.refusal.text.empty());
}

}  // namespace
}  // namespace gyre::nostr

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gyre::nostr;
  static MessageParser parser{MessageLimits{}};
  static MessageParser other{MessageLimits{}};
  FuzzedDataProvider input(data, size);
  const char padding = input.PickValueInArray({'\0', ' ', ']', '}', '"', ',', '\\', '0'});
  const std::string text = input.ConsumeRemainingBytesAsString();
  if (!is_valid_utf8(text)) return 0;
  const gyre::test::PaddedText padded(text, padding);
  const ClientMessage& message = parser.parse(padded.view());
  check_agreement(message, text);
  check_message(other, message);
  static_cast<void>(parser.parse_event(padded.view()));
  static_cast<void>(parser.parse_filter(padded.view()));
  return 0;
}

#include "gyre/nostr/client_message.h"

#include <string>
#include <utility>

#include "gyre/base/assert.h"
#include "nostr/event_reader.h"
#include "nostr/fault.h"
#include "nostr/filter_reader.h"
#include "nostr/json_string.h"
#include "nostr/message_outline.h"
#include "nostr/ondemand.h"

namespace gyre::nostr {
namespace {

static_assert(MessageParser::kPadding >= simdjson::SIMDJSON_PADDING);
static_assert(MessageParser::kPadding >= kStringSlackBytes);

constexpr Refusal kTooLong{Prefix::kInvalid, "message is too long"};
constexpr Refusal kNotArray{Prefix::kInvalid, "a message must be an array with a command"};
constexpr Refusal kUnknownCommand{Prefix::kInvalid,
                                  "unknown command; EVENT, REQ, COUNT, CLOSE and AUTH are known"};
constexpr Refusal kNoEvent{Prefix::kInvalid, "EVENT and AUTH must be followed by an event"};
constexpr Refusal kNoSubscriptionId{Prefix::kInvalid,
                                    "REQ, COUNT and CLOSE must be followed by a subscription id"};
constexpr Refusal kEmptySubscriptionId{Prefix::kInvalid, "subscription id is empty"};
constexpr Refusal kLongSubscriptionId{Prefix::kInvalid, "subscription id is too long"};
constexpr Refusal kNoFilter{Prefix::kInvalid, "REQ and COUNT need at least one filter"};
constexpr Refusal kTooManyFilters{Prefix::kInvalid, "too many filters"};
constexpr Refusal kFilterNotObject{Prefix::kInvalid, "a filter must be an object"};

// Longer ids are not echoed (nips.md 01-E02, 01-R01): no client that means well sends such, and
// the answer would be a NOTICE of the sender's own making.
constexpr std::size_t kEventIdEchoBytesMax = 128;
constexpr std::size_t kSubscriptionIdEchoBytesMax = 256;

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_event_command(MessageKind kind) {
  return kind == MessageKind::kEvent || kind == MessageKind::kAuth;
}

bool is_filter_command(MessageKind kind) {
  return kind == MessageKind::kReq || kind == MessageKind::kCount;
}

MessageKind command_kind(std::string_view command) {
  if (command == "EVENT") return MessageKind::kEvent;
  if (command == "REQ") return MessageKind::kReq;
  if (command == "CLOSE") return MessageKind::kClose;
  if (command == "COUNT") return MessageKind::kCount;
  if (command == "AUTH") return MessageKind::kAuth;
  return MessageKind::kBad;
}

}  // namespace

class MessageParser::Impl {
 public:
  explicit Impl(const MessageLimits& limits);

  const ClientMessage& parse(std::string_view text);
  const ClientMessage& parse_event(std::string_view text);
  const ClientMessage& parse_filter(std::string_view text);

 private:
  // False if the text is refused before it is looked at.
  [[nodiscard]] bool start(std::string_view text);

  // The reading way: fills message_ or finds a fault.
  [[nodiscard]] Fault read_message(std::string_view text);
  [[nodiscard]] Fault read_element(std::size_t index, ondemand::value& value);
  [[nodiscard]] Fault read_command(ondemand::value& value);
  [[nodiscard]] Fault read_event(ondemand::value& value);
  [[nodiscard]] Fault read_subscription_id(ondemand::value& value);
  [[nodiscard]] Fault read_filter(ondemand::value& value);
  [[nodiscard]] Fault check_complete(std::size_t element_count) const;
  [[nodiscard]] Fault read_lone_event(std::string_view text);
  [[nodiscard]] Fault read_lone_filter(std::string_view text);

  // The refusing way: turns message_ into the answer to a fault.
  const ClientMessage& refuse_message(std::string_view text, Fault fault);
  const ClientMessage& refuse_event(const MessageOutline& outline, Fault fault);
  const ClientMessage& refuse(MessageKind kind, Fault fault);

  MessageLimits limits_;
  ondemand::parser parser_;
  EventReader event_reader_;
  FilterReader filter_reader_;
  std::unique_ptr<char[]> scratch_;
  TextContext context_{};
  std::string id_;  // What message_.event_id or message_.subscription_id points to.
  ClientMessage message_;
};

MessageParser::Impl::Impl(const MessageLimits& limits)
    : limits_(limits),
      event_reader_(limits),
      filter_reader_(limits),
      scratch_(
          std::make_unique_for_overwrite<char[]>(limits.message_bytes_max + kStringSlackBytes)) {
  const simdjson::error_code error = parser_.allocate(limits.message_bytes_max);
  GYRE_ASSERT(error == simdjson::SUCCESS);
}

bool MessageParser::Impl::start(std::string_view text) {
  message_.kind = MessageKind::kBad;
  message_.event = PackedEventView();
  message_.event_id = {};
  message_.subscription_id = {};
  message_.filters.clear();
  message_.refusal = {};
  context_ = {text.data() + text.size(), scratch_.get()};
  const bool is_within_limit = text.size() <= limits_.message_bytes_max;
  if (!is_within_limit) message_.refusal = kTooLong;
  return is_within_limit;
}

const ClientMessage& MessageParser::Impl::parse(std::string_view text) {
  if (!start(text)) return message_;
  const Fault fault = read_message(text);
  return fault == nullptr ? message_ : refuse_message(text, fault);
}

Fault MessageParser::Impl::read_message(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) return &kNotJson;
  const simdjson::padded_string_view padded(text, text.size() + kPadding);
  ondemand::document document;
  if (parser_.iterate(padded).get(document) != simdjson::SUCCESS) return &kNotJson;
  ondemand::array elements;
  if (document.get_array().get(elements) != simdjson::SUCCESS) return &kNotArray;
  std::size_t count = 0;
  for (auto element : elements) {
    ondemand::value value;
    if (std::move(element).get(value) != simdjson::SUCCESS) return &kNotJson;
    if (const Fault fault = read_element(count, value)) return fault;
    ++count;
  }
  // Only now is it certain that the array was closed and nothing follows.
  if (!is_at_end(document)) return &kNotJson;
  return check_complete(count);
}

Fault MessageParser::Impl::read_element(std::size_t index, ondemand::value& value) {
  if (index == 0) return read_command(value);
  if (index == 1) {
    return is_event_command(message_.kind) ? read_event(value) : read_subscription_id(value);
  }
  if (is_filter_command(message_.kind)) return read_filter(value);
  // Elements behind the expected ones are ignored (nips.md 01-M03), but they are part of the JSON.
  return check_ignored(value, 1, context_);
}

Fault MessageParser::Impl::read_command(ondemand::value& value) {
  ondemand::raw_json_string raw;
  if (value.get_raw_json_string().get(raw) != simdjson::SUCCESS) return &kNotArray;
  const StringCopy copy = copy_canonical(raw.raw(), context_.text_end, context_.scratch);
  if (const Fault fault = string_fault(copy.verdict)) return fault;
  message_.kind =
      command_kind({context_.scratch, static_cast<std::size_t>(copy.out_end - context_.scratch)});
  return message_.kind == MessageKind::kBad ? &kUnknownCommand : nullptr;
}

Fault MessageParser::Impl::read_event(ondemand::value& value) {
  ondemand::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return &kNoEvent;
  if (const Fault fault = event_reader_.read(object, 2, context_)) return fault;
  message_.event = event_reader_.event();
  return nullptr;
}

Fault MessageParser::Impl::read_subscription_id(ondemand::value& value) {
  ondemand::raw_json_string raw;
  if (value.get_raw_json_string().get(raw) != simdjson::SUCCESS) return &kNoSubscriptionId;
  const StringCopy copy = copy_canonical(raw.raw(), context_.text_end, context_.scratch);
  if (const Fault fault = string_fault(copy.verdict)) return fault;
  id_.assign(context_.scratch, static_cast<std::size_t>(copy.out_end - context_.scratch));
  message_.subscription_id = id_;
  // CLOSE may name anything: there is no such subscription, and there is no answer either way.
  if (message_.kind == MessageKind::kClose) return nullptr;
  if (id_.empty()) return &kEmptySubscriptionId;
  if (decoded_code_point_count(id_) > limits_.subscription_id_chars_max) {
    return &kLongSubscriptionId;
  }
  return nullptr;
}

Fault MessageParser::Impl::read_filter(ondemand::value& value) {
  if (message_.filters.size() == limits_.filters_max) return &kTooManyFilters;
  return filter_reader_.read(value, context_, message_.filters.emplace_back());
}

Fault MessageParser::Impl::check_complete(std::size_t element_count) const {
  if (element_count == 0) return &kNotArray;
  if (element_count == 1) {
    return is_event_command(message_.kind) ? &kNoEvent : &kNoSubscriptionId;
  }
  if (element_count == 2 && is_filter_command(message_.kind)) return &kNoFilter;
  return nullptr;
}

const ClientMessage& MessageParser::Impl::refuse_message(std::string_view text, Fault fault) {
  MessageOutline outline = outline_message(text);
  if (!outline.is_json) return refuse(MessageKind::kBad, &kNotJson);
  const MessageKind command = command_kind(outline.command);
  if (is_event_command(command)) return refuse_event(outline, fault);
  if (is_filter_command(command) && outline.has_subscription_id &&
      outline.id.size() <= kSubscriptionIdEchoBytesMax) {
    id_ = std::move(outline.id);
    refuse(MessageKind::kBadRequest, fault);
    message_.subscription_id = id_;
    message_.request_kind = command;
    return message_;
  }
  return refuse(MessageKind::kBad, fault);
}

const ClientMessage& MessageParser::Impl::refuse_event(const MessageOutline& outline, Fault fault) {
  if (!outline.has_event_id || outline.id.size() > kEventIdEchoBytesMax) {
    return refuse(MessageKind::kBad, fault);
  }
  id_ = outline.id;
  refuse(MessageKind::kBadEvent, fault);
  message_.event_id = id_;
  return message_;
}

const ClientMessage& MessageParser::Impl::refuse(MessageKind kind, Fault fault) {
  message_.kind = kind;
  message_.event = PackedEventView();
  message_.event_id = {};
  message_.subscription_id = {};
  message_.filters.clear();
  message_.refusal = *fault;
  return message_;
}

const ClientMessage& MessageParser::Impl::parse_event(std::string_view text) {
  if (!start(text)) return message_;
  const Fault fault = read_lone_event(text);
  if (fault == nullptr) return message_;
  const MessageOutline outline = outline_object(text);
  return outline.is_json ? refuse_event(outline, fault) : refuse(MessageKind::kBad, &kNotJson);
}

Fault MessageParser::Impl::read_lone_event(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) return &kNotJson;
  const simdjson::padded_string_view padded(text, text.size() + kPadding);
  ondemand::document document;
  if (parser_.iterate(padded).get(document) != simdjson::SUCCESS) return &kNotJson;
  ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return &kNoEvent;
  if (const Fault fault = event_reader_.read(object, 1, context_)) return fault;
  if (!is_at_end(document)) return &kNotJson;
  message_.kind = MessageKind::kEvent;
  message_.event = event_reader_.event();
  return nullptr;
}

const ClientMessage& MessageParser::Impl::parse_filter(std::string_view text) {
  if (!start(text)) return message_;
  const Fault fault = read_lone_filter(text);
  if (fault == nullptr) return message_;
  const MessageOutline outline = outline_object(text);
  return outline.is_json ? refuse(MessageKind::kBadRequest, fault)
                         : refuse(MessageKind::kBad, &kNotJson);
}

Fault MessageParser::Impl::read_lone_filter(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) return &kNotJson;
  const simdjson::padded_string_view padded(text, text.size() + kPadding);
  ondemand::document document;
  if (parser_.iterate(padded).get(document) != simdjson::SUCCESS) return &kNotJson;
  ondemand::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return &kFilterNotObject;
  const Fault fault = filter_reader_.read(object, context_, message_.filters.emplace_back());
  if (fault != nullptr) return fault;
  if (!is_at_end(document)) return &kNotJson;
  message_.kind = MessageKind::kReq;
  return nullptr;
}

MessageParser::MessageParser(const MessageLimits& limits) : impl_(std::make_unique<Impl>(limits)) {}
MessageParser::~MessageParser() = default;
MessageParser::MessageParser(MessageParser&&) noexcept = default;
MessageParser& MessageParser::operator=(MessageParser&&) noexcept = default;

const ClientMessage& MessageParser::parse(std::string_view text) { return impl_->parse(text); }

const ClientMessage& MessageParser::parse_event(std::string_view text) {
  return impl_->parse_event(text);
}

const ClientMessage& MessageParser::parse_filter(std::string_view text) {
  return impl_->parse_filter(text);
}

}  // namespace gyre::nostr

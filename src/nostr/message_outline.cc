#include "nostr/message_outline.h"

#include <optional>

#include "nostr/json_walker.h"

namespace gyre::nostr {
namespace {

bool is_json(std::string_view text) {
  JsonWalker walker(text);
  if (!walker.skip_value(JsonWalker::kLevelsMax)) return false;
  walker.skip_blanks();
  return walker.is_at_end();
}

// The functions below walk text that is_json() has accepted.

// Takes one string; nothing if another value stands there, or it has no UTF-8 form.
std::optional<std::string> take_string(JsonWalker& walker, const char* text_end) {
  walker.skip_blanks();
  if (walker.peek() != '"') return std::nullopt;
  const char* const raw = walker.position() + 1;
  if (!walker.skip_string()) return std::nullopt;
  const auto raw_bytes = static_cast<std::size_t>(walker.position() - raw);
  std::string copy(raw_bytes + kStringSlackBytes, '\0');
  const StringCopy result = copy_canonical(raw, text_end, copy.data());
  if (result.verdict != StringVerdict::kGood) return std::nullopt;
  copy.resize(static_cast<std::size_t>(result.out_end - copy.data()));
  return copy;
}

// The first member named id, if it is a string.
std::optional<std::string> find_id(JsonWalker& walker, const char* text_end) {
  if (!walker.take('{') || walker.take('}')) return std::nullopt;
  do {
    const std::optional<std::string> name = take_string(walker, text_end);
    if (!walker.take(':')) return std::nullopt;
    if (name == "id") return take_string(walker, text_end);
    if (!walker.skip_value(JsonWalker::kLevelsMax)) return std::nullopt;
  } while (walker.take(','));
  return std::nullopt;
}

void outline_subject(JsonWalker& walker, const char* text_end, MessageOutline& outline) {
  walker.skip_blanks();
  std::optional<std::string> id;
  if (walker.peek() == '{') {
    id = find_id(walker, text_end);
    outline.has_event_id = id.has_value();
  } else {
    id = take_string(walker, text_end);
    outline.has_subscription_id = id.has_value();
  }
  if (id) outline.id = *std::move(id);
}

}  // namespace

MessageOutline outline_message(std::string_view text) {
  MessageOutline outline;
  outline.is_json = is_json(text);
  if (!outline.is_json) return outline;
  const char* const text_end = text.data() + text.size();
  JsonWalker walker(text);
  if (!walker.take('[')) return outline;
  std::optional<std::string> command = take_string(walker, text_end);
  if (!command || !walker.take(',')) return outline;
  outline.command = *std::move(command);
  outline_subject(walker, text_end, outline);
  return outline;
}

MessageOutline outline_object(std::string_view text) {
  MessageOutline outline;
  outline.is_json = is_json(text);
  if (!outline.is_json) return outline;
  const char* const text_end = text.data() + text.size();
  JsonWalker walker(text);
  outline_subject(walker, text_end, outline);
  return outline;
}

}  // namespace gyre::nostr

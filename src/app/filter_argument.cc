#include "app/filter_argument.h"

#include <utility>

#include "gyre/nostr/client_message.h"
#include "gyre/nostr/json_text.h"

namespace gyre::app {

absl::StatusOr<nostr::Filter> parse_filter_argument(const std::string& json) {
  if (!nostr::is_valid_utf8(json)) return absl::InvalidArgumentError("--filter is not UTF-8");
  nostr::MessageParser parser((nostr::MessageLimits()));
  const std::string padded = json + std::string(nostr::MessageParser::kPadding, '\0');
  const nostr::ClientMessage& message =
      parser.parse_filter(std::string_view(padded.data(), json.size()));
  if (message.kind != nostr::MessageKind::kReq) {
    return absl::InvalidArgumentError("--filter " + json + ": " +
                                      std::string(message.refusal.text));
  }
  return message.filters.front();
}

absl::StatusOr<std::vector<nostr::Filter>> parse_filter_arguments(
    const std::vector<std::string>& json) {
  std::vector<nostr::Filter> filters;
  for (const std::string& text : json) {
    auto filter = parse_filter_argument(text);
    if (!filter.ok()) return filter.status();
    filters.push_back(*std::move(filter));
  }
  return filters;
}

bool matches_everything(const nostr::Filter& filter) {
  const nostr::Filter none;
  return !filter.matches_nothing && !filter.has_ids() && !filter.has_authors() &&
         !filter.has_kinds() && filter.tags.empty() && filter.since == none.since &&
         filter.until == none.until;
}

}  // namespace gyre::app

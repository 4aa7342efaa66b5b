#include "gyre/nostr/repost.h"

#include <string>

#include "gyre/nostr/json_text.h"
#include "simdjson.h"

namespace gyre::nostr {
namespace {

bool has_protected_tag(simdjson::dom::element document) {
  simdjson::dom::array tags;
  if (document["tags"].get_array().get(tags) != simdjson::SUCCESS) return false;
  for (const simdjson::dom::element tag : tags) {
    simdjson::dom::array items;
    std::string_view name;
    if (tag.get_array().get(items) != simdjson::SUCCESS) continue;
    if (items.at(0).get_string().get(name) == simdjson::SUCCESS && name == "-") return true;
  }
  return false;
}

}  // namespace

bool embeds_protected_event(PackedEventView repost) {
  const std::string_view content = repost.content_json();
  // Nearly every repost names no such tag, plainly or by an escape: then there is nothing to parse.
  const bool names_it_plainly = content.find(R"(\"-\")") != std::string_view::npos;
  const bool has_unicode_escape = content.find(R"(\\u)") != std::string_view::npos;
  if (!names_it_plainly && !has_unicode_escape) return false;
  const std::string text = unescape(content.substr(1, content.size() - 2));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  if (parser.parse(text).get(document) != simdjson::SUCCESS) return false;
  return has_protected_tag(document);
}

}  // namespace gyre::nostr

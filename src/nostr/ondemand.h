// simdjson's On-Demand parser as we use it, and how its text is read beyond what it checks.
#pragma once

// Its checks against wrong use would change the layout of its types between build types.
#define SIMDJSON_DEVELOPMENT_CHECKS 0
#include <simdjson.h>

#include <cstdint>

#include "nostr/fault.h"
#include "nostr/json_string.h"
#include "nostr/json_walker.h"

namespace gyre::nostr {

namespace ondemand = simdjson::ondemand;

// Containers inside each other in one message, the outermost array included (nips.md 01-J03).
inline constexpr std::uint32_t kMessageLevelsMax = 16;

// What the readers of one text share.
struct TextContext {
  const char* text_end;
  char* scratch;  // Room for any string of the text and kStringSlackBytes.
};

[[nodiscard]] inline Fault string_fault(StringVerdict verdict) {
  switch (verdict) {
    case StringVerdict::kGood: return nullptr;
    case StringVerdict::kHalfSurrogate: return &kLoneSurrogate;
    case StringVerdict::kBroken: break;
  }
  return &kNotJson;
}

// Checks a value that nobody reads, inside of `level` containers. On-Demand then skips it, which by
// itself would let pass anything that has its brackets in pairs.
[[nodiscard]] inline Fault check_ignored(ondemand::value& value, std::uint32_t level,
                                         const TextContext& context) {
  const std::string_view token = value.raw_json_token();
  const char* const begin = token.data();
  JsonWalker walker({begin, static_cast<std::size_t>(context.text_end - begin)});
  if (!walker.skip_value(kMessageLevelsMax - level)) return &kTooDeep;
  if (walker.has_lone_surrogate()) return &kLoneSurrogate;
  // Containers end at the same bracket for both. A scalar must reach up to the next token, or
  // On-Demand would step over what stands between.
  if (token.front() == '[' || token.front() == '{') return nullptr;
  walker.skip_blanks();
  if (walker.position() != token.data() + token.size()) return &kNotJson;
  // A string left alone would be skipped together with a colon behind it, as if it were a key.
  ondemand::raw_json_string string;
  if (token.front() == '"' && value.get_raw_json_string().get(string) != simdjson::SUCCESS) {
    return &kNotJson;
  }
  return nullptr;
}

// True if nothing follows the value that `document` was read as. Iterating an array or an object
// ends at its closing bracket, whatever comes then.
[[nodiscard]] inline bool is_at_end(ondemand::document& document) {
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

}  // namespace gyre::nostr

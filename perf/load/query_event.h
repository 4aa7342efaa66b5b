// QueryEvent: of a corpus event, what queries ask for.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus.h"

namespace gyre::load {

struct QueryEvent {
  std::string_view id;
  std::string_view pubkey;
  std::uint64_t created_at = 0;
  std::uint16_t kind = 0;
  std::vector<std::pair<char, std::string_view>> tags;  // Letter, value as it stands in the JSON.
};

// The events that a relay keeps of the corpus and shows to anybody: without versions that were
// replaced, and without encrypted messages. Newest first, ties by lowest id. Ends the program if a
// line has another shape than `gyre-load corpus` gives it.
[[nodiscard]] std::vector<QueryEvent> readable_events(const Corpus& corpus);

}  // namespace gyre::load

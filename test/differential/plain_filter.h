// PlainFilter: NIP-01's filter spelled out as plainly as the NIP does, sharing no code with the
// relay's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "differential/plain_event.h"

namespace gyre::test {

struct PlainFilter {
  std::set<std::string> ids;
  std::set<std::string> authors;
  std::set<std::uint16_t> kinds;
  std::map<char, std::set<std::string>> tags;
  std::optional<std::uint64_t> since;
  std::optional<std::uint64_t> until;
  std::optional<std::uint64_t> limit;

  // `limit` has no say.
  [[nodiscard]] bool matches(const PlainEvent& event) const;
  [[nodiscard]] std::string json() const;
};

}  // namespace gyre::test

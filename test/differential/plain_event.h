// PlainEvent: an event as plain values, for models that do nothing clever.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gyre::test {

struct PlainEvent {
  std::string id;      // Hex.
  std::string pubkey;  // Hex.
  std::uint64_t created_at = 0;
  std::uint16_t kind = 0;
  std::vector<std::vector<std::string>> tags;
  std::string json;  // As a client sends it.
};

}  // namespace gyre::test

// Events for tests: real keys, ids and signatures, the same in every run.
//
// The secret key of index n is SHA-256 of "gyre test key <n>". Signing is deterministic too
// (BIP-340 without auxiliary randomness), so an event is a function of its draft.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/nostr/packed_event.h"

namespace gyre::test {

struct EventDraft {
  std::uint32_t key_index = 0;
  std::uint64_t created_at = 1'767'225'600;  // 2026-01-01
  std::uint16_t kind = 1;
  std::vector<std::vector<std::string>> tags;  // Plain text; escaping is done here.
  std::string content;
};

[[nodiscard]] std::string pubkey_hex(std::uint32_t key_index);
[[nodiscard]] Bytes32 pubkey(std::uint32_t key_index);

// The event as JSON text, minified, as a client would send it inside ["EVENT", ...].
[[nodiscard]] std::string sign_event(const EventDraft& draft);

// The same as packed bytes, by way of MessageParser.
[[nodiscard]] std::vector<std::uint8_t> pack_event(const EventDraft& draft);

// Right id, meaningless signature: about a hundred times as fast, for tests of what happens behind
// the verifier.
[[nodiscard]] std::string unsigned_event(const EventDraft& draft);
[[nodiscard]] std::vector<std::uint8_t> pack_unsigned_event(const EventDraft& draft);

// Packs any event text; aborts the test program if the parser does not take it.
[[nodiscard]] std::vector<std::uint8_t> pack_event_text(std::string_view event_json);

}  // namespace gyre::test

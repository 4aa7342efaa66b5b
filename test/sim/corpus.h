// Corpus: the events of one simulation, signed beforehand, and what each of them does to others.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "gyre/base/random.h"
#include "gyre/nostr/filter.h"
#include "gyre/nostr/packed_event.h"
#include "support/event_factory.h"

namespace gyre::test {

using EventIndex = std::size_t;

struct CorpusEvent {
  std::string json;  // As a client sends it.
  std::vector<std::uint8_t> packed;
  std::uint32_t key_index = 0;
  bool has_bad_signature = false;
  bool is_vanish_elsewhere = false;  // A request to vanish that names other relays.
  // Events that make this one dead, or keep it out, once they are stored.
  std::vector<EventIndex> killers;

  [[nodiscard]] nostr::PackedEventView view() const {
    return nostr::PackedEventView(packed.data());
  }
  [[nodiscard]] bool is_ephemeral() const;
  [[nodiscard]] bool is_expired(std::int64_t now_s) const {
    const auto expiration = view().expiration();
    return expiration && static_cast<std::int64_t>(*expiration) <= now_s;
  }
};

class Corpus {
 public:
  static constexpr std::uint32_t kAuthors = 6;
  static constexpr std::string_view kRelayUrl = "wss://relay.test/";

  // Events dated around `now_s`, some with an expiration after it; so many of a hundred are large.
  Corpus(Random& random, std::size_t count, std::uint64_t large_percent, std::int64_t now_s);

  [[nodiscard]] std::size_t size() const { return events_.size(); }
  [[nodiscard]] const CorpusEvent& operator[](EventIndex index) const { return events_[index]; }
  [[nodiscard]] std::optional<EventIndex> find(std::string_view id_hex) const;

  [[nodiscard]] EventIndex some_ephemeral();

  // One filter object as text, and compiled.
  struct FilterText {
    std::string json;
    nostr::Filter filter;
  };
  [[nodiscard]] FilterText make_filter();

  [[nodiscard]] static bool is_gated(std::uint16_t kind) {
    return kind == 4 || kind == 1059 || kind == 21'059;
  }
  // NIP-59, NIP-04: whether one of the keys is a party to the event.
  [[nodiscard]] static bool may_read(nostr::PackedEventView event,
                                     const std::vector<std::uint32_t>& keys);

 private:
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) { return random_.next_u64() % bound; }
  [[nodiscard]] bool chance(std::uint64_t percent) { return below(100) < percent; }
  void add_event(std::uint64_t large_percent, std::int64_t now_s);
  void add_tags_of_kind(EventDraft& draft);
  [[nodiscard]] std::string some_id();
  [[nodiscard]] std::string some_pubkey() {
    return pubkey_hex(static_cast<std::uint32_t>(below(kAuthors)));
  }
  void find_killers();

  Random& random_;
  std::vector<CorpusEvent> events_;
  std::unordered_map<std::string, EventIndex> by_id_;
};

}  // namespace gyre::test

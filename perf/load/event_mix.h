// EventMix: events as a public relay sees them, without their signatures. The shares of kinds and
// the sizes follow what large relays report; the mean JSON is about 690 bytes.
//
// Authors and referenced events are Zipf distributed: a few write and are mentioned much. The same
// seed and count give the same events on every machine.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "chance.h"
#include "signer.h"

namespace gyre::load {

struct UnsignedEvent {
  Bytes32 id;
  std::uint32_t author;  // Index into EventMix::signers().
  std::string json;      // Whole, with zeros in the place of the signature.
};

// Where the 128 digits of the signature lie in `json`.
[[nodiscard]] inline std::size_t signature_offset(const UnsignedEvent& event) {
  return event.json.size() - 2 - 128;
}

class EventMix {
 public:
  // `kind`: the one kind of all events, instead of the mix.
  EventMix(std::uint64_t seed, std::size_t count, std::optional<std::uint16_t> kind);

  [[nodiscard]] const std::vector<Signer>& signers() const { return signers_; }
  [[nodiscard]] UnsignedEvent make_next();

 private:
  struct Body {
    std::uint16_t kind = 1;
    std::string tags;     // JSON without the outer brackets.
    std::string content;  // Escaped as NIP-01 demands, so it serves in the hash and in the JSON.
  };
  Body make_body();
  Body make_note();
  Body make_profile();
  Body make_follow_list();
  Body make_response(std::uint16_t kind);
  Body make_zap();
  Body make_relay_list();
  Body make_article();
  Body make_wrap();

  void add_tag(Body& body, std::initializer_list<std::string_view> items);
  void add_event_reference(Body& body, std::string_view marker);
  void add_author_reference(Body& body);
  std::string words(double median_bytes, double spread);
  std::string letters(std::size_t count);
  std::size_t log_normal(double median, double spread, std::size_t max);

  Chance chance_;
  std::optional<std::uint16_t> only_kind_;
  std::vector<Signer> signers_;
  Zipf author_ranks_;
  Zipf reference_ranks_;
  std::vector<std::string> recent_ids_;  // A ring of the latest events, to be referenced.
  std::uint64_t made_ = 0;
};

}  // namespace gyre::load

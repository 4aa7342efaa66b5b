// Terms: what an event is posted under, and what a filter is looked up by.
//
// A term is a 64-bit keyed hash (SipHash-2-4) of a type and a value. The key is random for each
// store, so nobody outside can aim at collisions; a match by term is always confirmed on the event.
// Values of tags are the canonically escaped text (nostr/json_text.h).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "absl/container/inlined_vector.h"
#include "gyre/base/bytes.h"
#include "gyre/nostr/packed_event.h"

namespace gyre::storage {

using Term = std::uint64_t;

// Set in the terms of tombstones (kDeletedId, kDeletedAddress, kVanished) and in no others, so that
// whatever holds terms can keep the two apart: every event that comes in is looked up under some
// tombstones, and few there are.
inline constexpr Term kTombstoneBit = Term{1} << 32;
[[nodiscard]] constexpr bool is_tombstone(Term term) { return (term & kTombstoneBit) != 0; }

// Numbers stand on disk inside the hashes: never renumber.
enum class TermType : std::uint8_t {
  kAll = 1,
  kId = 2,               // id
  kAuthor = 3,           // pubkey
  kKind = 4,             // kind
  kAuthorKind = 5,       // pubkey, kind
  kTag = 6,              // letter, value
  kTagKind = 7,          // letter, value, kind
  kAddress = 8,          // kind, pubkey, d: replaceable and addressable events
  kDeletedId = 9,        // id, pubkey of the request: posted by the deletion request
  kDeletedAddress = 10,  // kind, pubkey, d: posted by the deletion request
  kVanished = 11,        // pubkey: posted by the vanish request
  kExpiry = 12,          // posted with the expiration as its time, for the sweep
  kUnburied = 13,        // dead posting of an event that could not be read when it died
};

class TermHasher {
 public:
  explicit TermHasher(const std::array<std::uint8_t, 16>& key);

  [[nodiscard]] Term all() const;
  [[nodiscard]] Term id(const Bytes32& id) const;
  [[nodiscard]] Term author(const Bytes32& pubkey) const;
  [[nodiscard]] Term kind(std::uint16_t kind) const;
  [[nodiscard]] Term author_kind(const Bytes32& pubkey, std::uint16_t kind) const;
  [[nodiscard]] Term tag(char letter, std::string_view value) const;
  [[nodiscard]] Term tag_kind(char letter, std::string_view value, std::uint16_t kind) const;
  [[nodiscard]] Term address(std::uint16_t kind, const Bytes32& pubkey, std::string_view d) const;
  [[nodiscard]] Term deleted_id(const Bytes32& id, const Bytes32& requester) const;
  [[nodiscard]] Term deleted_address(std::uint16_t kind, const Bytes32& pubkey,
                                     std::string_view d) const;
  [[nodiscard]] Term vanished(const Bytes32& pubkey) const;
  [[nodiscard]] Term expiry() const;
  [[nodiscard]] Term unburied() const;

 private:
  [[nodiscard]] Term hash(TermType type, ByteSpan first, ByteSpan second) const;
  std::uint64_t key_[2];
  Term all_;
  Term expiry_;
};

using TermList = absl::InlinedVector<Term, 24>;

// The terms by which filters find an event (kAll to kTagKind), each once. kTagKind is only posted
// for the letters e, p, a, t, E, A (where filters combine them with kinds).
void append_query_terms(const TermHasher& hasher, nostr::PackedEventView event, TermList& out);
[[nodiscard]] bool has_tag_kind_term(char letter);

}  // namespace gyre::storage

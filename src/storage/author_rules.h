// AuthorRules: what one event means for the others of its author (NIP-01 replacement, NIP-09,
// NIP-62), decided on what the shard has stored. Reads only; the store acts.
#pragma once

#include <vector>

#include "gyre/nostr/packed_event.h"
#include "gyre/storage/query.h"
#include "gyre/storage/store.h"

namespace gyre::storage {

// An address tag's value: <kind>:<pubkey>:<d>, d canonically escaped and possibly with colons.
struct EventAddress {
  std::uint16_t kind;
  Bytes32 pubkey;
  std::string_view d;
};
// Nothing unless the kind is replaceable (with an empty d) or addressable, in plain decimal.
[[nodiscard]] std::optional<EventAddress> parse_address(std::string_view value);
// The address that an event of a replaceable or addressable kind occupies; nothing for other kinds.
[[nodiscard]] std::optional<EventAddress> address_of(nostr::PackedEventView event,
                                                     const Bytes32& pubkey);

// The terms by which a deletion or vanish request is remembered. Their postings are never removed,
// so a tombstone outlives the request itself (nips.md 09-12).
void append_tombstones(const TermHasher& hasher, nostr::PackedEventView request, TermList& out);

class AuthorRules {
 public:
  explicit AuthorRules(const QuerySources& sources) : sources_(sources) {}

  // May the event come in? Looks at stored ids, tombstones, vanish requests and addresses.
  [[nodiscard]] Verdict check(nostr::PackedEventView event) const;
  // The same for events that are never stored: only a request to vanish can refuse them.
  [[nodiscard]] Verdict check_ephemeral(nostr::PackedEventView event) const;

  // The events that storing `event` makes dead: older versions of its address, and what it deletes
  // or makes vanish. Ascending, each once, all alive.
  void collect_retired(nostr::PackedEventView event, std::vector<Sequence>& out) const;

  // The same for a deletion or vanish request of an author who lives in another shard.
  void collect_foreign_retired(nostr::PackedEventView request, std::vector<Sequence>& out) const;

  // False if every tombstone of the request is known already.
  [[nodiscard]] bool has_new_tombstones(nostr::PackedEventView request) const;

 private:
  struct Identity {
    Bytes32 id;
    Bytes32 pubkey;
  };
  [[nodiscard]] std::optional<Sequence> find_alive(const Bytes32& id) const;
  [[nodiscard]] bool is_vanished(nostr::PackedEventView event, const Identity& identity) const;
  [[nodiscard]] bool is_deleted(nostr::PackedEventView event, const Identity& identity) const;
  [[nodiscard]] bool is_stale(nostr::PackedEventView event, const Identity& identity) const;
  [[nodiscard]] bool is_posted(Term term, std::uint64_t since) const;

  void collect_by_id(nostr::PackedEventView request, const Bytes32& pubkey,
                     std::vector<Sequence>& out) const;
  void collect_by_address(const EventAddress& address, std::uint64_t until,
                          std::vector<Sequence>& out) const;
  void collect_vanished(nostr::PackedEventView request, const Bytes32& pubkey,
                        std::vector<Sequence>& out) const;
  void collect_wraps_to(const Bytes32& pubkey, std::uint64_t until,
                        std::vector<Sequence>& out) const;

  const QuerySources& sources_;
};

}  // namespace gyre::storage

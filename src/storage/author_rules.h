// AuthorRules: what one event means for the others of its author (NIP-01 replacement, NIP-09,
// NIP-62), decided on what the shard has stored. Reads only; the store acts.
//
// Decides by postings and rows alone and leaves the log untouched, since a record may be on the
// disk. A posting says that a keyed hash of 64 bits fits. Together with a second posting of the
// same event under a term that says the same in other words, or with the id's first 64 bits, or
// with the author's hash and the kind in the row, the chance that it stands for something else is
// 2^-96 at most for each pair; and the key is secret, so nobody can look for pairs that collide.
//
// What is left is two versions of one address with one created_at and ids that begin with the same
// 64 bits. Then the ids decide, and have to be read.
#pragma once

#include <vector>

#include "gyre/nostr/packed_event.h"
#include "gyre/storage/query.h"
#include "gyre/storage/store.h"
#include "storage/record_fetch.h"

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

  // May the event come in? Looks at stored ids, tombstones, vanish requests and addresses. `tie` is
  // where a record is fetched that has to be read from the disk; kReading until it is there, or for
  // good without one.
  [[nodiscard]] Verdict check(nostr::PackedEventView event, RecordFetch* tie) const;
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
    // What every event is looked up by.
    Term id_term;
    Term vanished_term;
    Term deleted_id_term;
  };
  [[nodiscard]] Identity identity_of(nostr::PackedEventView event) const;
  [[nodiscard]] std::optional<Sequence> find_alive(Term term, const Bytes32& id) const;
  // The event stands under the term, too.
  [[nodiscard]] bool is_posted_for(Term term, const DirectoryRow& row, Sequence sequence) const;
  [[nodiscard]] bool is_author(const Bytes32& pubkey, const DirectoryRow& row,
                               Sequence sequence) const;
  [[nodiscard]] bool is_wrap_to(std::string_view pubkey_hex, const DirectoryRow& row,
                                Sequence sequence) const;
  [[nodiscard]] bool has_address(const EventAddress& address, const DirectoryRow& row,
                                 Sequence sequence) const;
  [[nodiscard]] bool is_vanished(nostr::PackedEventView event, const Identity& identity) const;
  [[nodiscard]] bool is_deleted(nostr::PackedEventView event, const Identity& identity) const;
  // Nothing: the record that decides is being read.
  [[nodiscard]] std::optional<bool> is_stale(nostr::PackedEventView event, const Identity& identity,
                                             RecordFetch* tie) const;
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

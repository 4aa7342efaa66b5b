#include "storage/author_rules.h"

#include <algorithm>
#include <charconv>

#include "gyre/nostr/kind.h"

namespace gyre::storage {
namespace {

using nostr::KindClass;
using nostr::PackedEventView;
using nostr::TagEntry;

std::optional<Bytes32> parse_key(std::string_view hex) {
  Bytes32 key;
  if (hex.size() != 64 || !hex_decode(hex, key.bytes.data())) return std::nullopt;
  return key;
}

// Calls `function` with every value of the tags with this letter.
template <typename Function>
void for_each_value(PackedEventView event, char letter, Function&& function) {
  for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
    const TagEntry tag = event.tag(i);
    if (tag.letter() == letter && tag.has_value()) function(event.tag_value(tag));
  }
}

bool is_gift_wrap(PackedEventView event) { return event.kind() == nostr::kKindGiftWrap; }

bool is_request(std::uint16_t kind) {
  return kind == nostr::kKindDeletion || kind == nostr::kKindVanish;
}

void sort_unique(std::vector<Sequence>& sequences) {
  std::sort(sequences.begin(), sequences.end());
  sequences.erase(std::unique(sequences.begin(), sequences.end()), sequences.end());
}

}  // namespace

std::optional<EventAddress> parse_address(std::string_view value) {
  const std::size_t first = value.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  const std::size_t second = value.find(':', first + 1);
  if (second == std::string_view::npos) return std::nullopt;

  const std::string_view digits = value.substr(0, first);
  if (digits.empty() || (digits.size() > 1 && digits[0] == '0')) return std::nullopt;
  std::uint16_t kind = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), kind);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;

  const auto pubkey = parse_key(value.substr(first + 1, second - first - 1));
  if (!pubkey) return std::nullopt;
  const std::string_view d = value.substr(second + 1);
  const KindClass kind_class = nostr::kind_class(kind);
  const bool names_address =
      kind_class == KindClass::kAddressable || (kind_class == KindClass::kReplaceable && d.empty());
  if (!names_address) return std::nullopt;
  return EventAddress{kind, *pubkey, d};
}

std::optional<EventAddress> address_of(PackedEventView event, const Bytes32& pubkey) {
  switch (nostr::kind_class(event.kind())) {
    case KindClass::kReplaceable: return EventAddress{event.kind(), pubkey, ""};
    case KindClass::kAddressable: return EventAddress{event.kind(), pubkey, event.d_tag()};
    case KindClass::kRegular:
    case KindClass::kEphemeral: break;
  }
  return std::nullopt;
}

void append_tombstones(const TermHasher& hasher, PackedEventView request, TermList& out) {
  const Bytes32 pubkey = request.pubkey();
  if (request.kind() == nostr::kKindVanish) {
    out.push_back(hasher.vanished(pubkey));
  } else if (request.kind() == nostr::kKindDeletion) {
    for_each_value(request, 'e', [&](std::string_view value) {
      if (const auto id = parse_key(value)) out.push_back(hasher.deleted_id(*id, pubkey));
    });
    for_each_value(request, 'a', [&](std::string_view value) {
      const auto target = parse_address(value);
      if (target && target->pubkey == pubkey) {
        out.push_back(hasher.deleted_address(target->kind, target->pubkey, target->d));
      }
    });
  } else {
    return;
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

Verdict AuthorRules::check(PackedEventView event, RecordFetch* tie) const {
  const Identity identity = identity_of(event);
  // All at once, so that their cache misses overlap: most are nowhere, in any run.
  for (const Term term : {identity.id_term, identity.vanished_term, identity.deleted_id_term}) {
    sources_.postings.prefetch_find(term);
  }
  if (find_alive(identity.id_term, identity.id)) return Verdict::kDuplicate;
  if (is_vanished(event, identity)) return Verdict::kVanished;
  if (is_deleted(event, identity)) return Verdict::kDeleted;
  const std::optional<bool> is_old = is_stale(event, identity, tie);
  if (!is_old) return Verdict::kReading;
  return *is_old ? Verdict::kStale : Verdict::kAccept;
}

Verdict AuthorRules::check_ephemeral(PackedEventView event) const {
  return is_vanished(event, identity_of(event)) ? Verdict::kVanished : Verdict::kAccept;
}

AuthorRules::Identity AuthorRules::identity_of(PackedEventView event) const {
  const TermHasher& hasher = sources_.hasher;
  const Bytes32 id = event.id();
  const Bytes32 pubkey = event.pubkey();
  return {id, pubkey, hasher.id(id), hasher.vanished(pubkey), hasher.deleted_id(id, pubkey)};
}

std::optional<Sequence> AuthorRules::find_alive(Term term, const Bytes32& id) const {
  // Almost every id is new, and that answer needs no cursor.
  if (!sources_.postings.find_newest({term})) return std::nullopt;
  for (PostingCursor cursor = sources_.postings.find({term}); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    const DirectoryRow row = sources_.directory.row(sequence);
    if ((row.flags & kRowDead) == 0 && row.id_prefix == prefix64(id.bytes.data())) return sequence;
  }
  return std::nullopt;
}

bool AuthorRules::is_posted_for(Term term, const DirectoryRow& row, Sequence sequence) const {
  // Of sequence 0 there is none before: the number goes round, as find_behind() expects.
  const PostingPlace before{row.created_at, row.id_prefix, sequence - 1};
  const PostingCursor cursor =
      sources_.postings.find_behind({term, row.created_at, row.created_at}, before);
  return !cursor.is_at_end() && cursor.sequence() == sequence;
}

bool AuthorRules::is_author(const Bytes32& pubkey, const DirectoryRow& row,
                            Sequence sequence) const {
  if (row.author_hash != static_cast<std::uint32_t>(sources_.hasher.author(pubkey))) return false;
  return is_posted_for(sources_.hasher.author_kind(pubkey, row.kind), row, sequence);
}

bool AuthorRules::is_wrap_to(std::string_view pubkey_hex, const DirectoryRow& row,
                             Sequence sequence) const {
  const TermHasher& hasher = sources_.hasher;
  return row.kind == nostr::kKindGiftWrap &&
         is_posted_for(hasher.tag_kind('p', pubkey_hex, row.kind), row, sequence) &&
         is_posted_for(hasher.tag('p', pubkey_hex), row, sequence);
}

// For what was found under the address's own term.
bool AuthorRules::has_address(const EventAddress& address, const DirectoryRow& row,
                              Sequence sequence) const {
  const auto author_hash = static_cast<std::uint32_t>(sources_.hasher.author(address.pubkey));
  if (row.kind != address.kind || row.author_hash != author_hash) return false;
  // Of a replaceable kind an author has one address; else it is the d that tells them apart.
  return nostr::kind_class(address.kind) == KindClass::kReplaceable ||
         is_posted_for(sources_.hasher.tag('d', address.d), row, sequence);
}

bool AuthorRules::is_posted(Term term, std::uint64_t since) const {
  return sources_.postings.find_newest({term, since, UINT64_MAX}).has_value();
}

bool AuthorRules::is_vanished(PackedEventView event, const Identity& identity) const {
  const std::uint64_t created_at = event.created_at();
  if (is_posted(identity.vanished_term, created_at)) return true;
  if (!is_gift_wrap(event)) return false;
  bool vanished = false;
  for_each_value(event, 'p', [&](std::string_view value) {
    const auto recipient = parse_key(value);
    vanished =
        vanished || (recipient && is_posted(sources_.hasher.vanished(*recipient), created_at));
  });
  return vanished;
}

bool AuthorRules::is_deleted(PackedEventView event, const Identity& identity) const {
  // A request that was named by a deletion stands all the same (nips.md 09-09).
  if (is_request(event.kind())) return false;
  const TermHasher& hasher = sources_.hasher;
  if (is_posted(identity.deleted_id_term, 0)) return true;
  if (const auto address = address_of(event, identity.pubkey)) {
    const Term term = hasher.deleted_address(address->kind, address->pubkey, address->d);
    return is_posted(term, event.created_at());
  }
  if (!is_gift_wrap(event)) return false;
  bool deleted = false;
  for_each_value(event, 'p', [&](std::string_view value) {
    const auto recipient = parse_key(value);
    deleted = deleted || (recipient && is_posted(hasher.deleted_id(identity.id, *recipient), 0));
  });
  return deleted;
}

std::optional<bool> AuthorRules::is_stale(PackedEventView event, const Identity& identity,
                                          RecordFetch* tie) const {
  const auto address = address_of(event, identity.pubkey);
  if (!address) return false;
  const Term term = sources_.hasher.address(address->kind, address->pubkey, address->d);
  // The newest version ever stored counts, dead or alive: neither expiry nor a deletion by id
  // uncovers an older one (nips.md 09-10, 40-06).
  const auto newest = sources_.postings.find_newest({term});
  if (!newest) return false;
  if (event.created_at() != newest->created_at) return event.created_at() < newest->created_at;
  const std::uint64_t id_prefix = prefix64(identity.id.bytes.data());
  if (newest->id_prefix != id_prefix) return newest->id_prefix < id_prefix;
  const DirectoryRow row = sources_.directory.row(newest->sequence);
  // The record of a dead one may be gone. Of two whose ids begin alike the one that was here stays.
  if ((row.flags & kRowDead) != 0) return true;
  PackedEventView stored;
  if (sources_.reads == nullptr || !sources_.reads->is_cold(row.position)) {
    stored = read_event(sources_, row);
  } else if (tie == nullptr || !tie->fetch(*sources_.reads, sources_.log, row.position, stored)) {
    return std::nullopt;
  }
  // A version that cannot be read any more stands in nobody's way.
  return !stored.is_null() && stored.id() <= identity.id;
}

void AuthorRules::collect_retired(PackedEventView event, std::vector<Sequence>& out) const {
  const Bytes32 pubkey = event.pubkey();
  if (const auto address = address_of(event, pubkey)) {
    collect_by_address(*address, event.created_at(), out);
  } else if (event.kind() == nostr::kKindDeletion) {
    collect_by_id(event, pubkey, out);
    for_each_value(event, 'a', [&](std::string_view value) {
      const auto target = parse_address(value);
      if (target && target->pubkey == pubkey) collect_by_address(*target, event.created_at(), out);
    });
  } else if (event.kind() == nostr::kKindVanish) {
    collect_vanished(event, pubkey, out);
    collect_wraps_to(pubkey, event.created_at(), out);
  }
  sort_unique(out);
}

void AuthorRules::collect_foreign_retired(PackedEventView request,
                                          std::vector<Sequence>& out) const {
  const Bytes32 pubkey = request.pubkey();
  if (request.kind() == nostr::kKindDeletion) {
    collect_by_id(request, pubkey, out);
  } else {
    collect_wraps_to(pubkey, request.created_at(), out);
  }
  sort_unique(out);
}

void AuthorRules::collect_by_id(PackedEventView request, const Bytes32& pubkey,
                                std::vector<Sequence>& out) const {
  for_each_value(request, 'e', [&](std::string_view value) {
    const auto id = parse_key(value);
    if (!id) return;
    const auto sequence = find_alive(sources_.hasher.id(*id), *id);
    if (!sequence) return;
    const DirectoryRow target = sources_.directory.row(*sequence);
    if (is_request(target.kind)) return;
    // A gift wrap is signed by a throw-away key; its recipient may delete it (nips.md 59-03).
    const bool may_delete =
        is_author(pubkey, target, *sequence) || is_wrap_to(request.pubkey_hex(), target, *sequence);
    if (may_delete) out.push_back(*sequence);
  });
}

void AuthorRules::collect_by_address(const EventAddress& address, std::uint64_t until,
                                     std::vector<Sequence>& out) const {
  const Term term = sources_.hasher.address(address.kind, address.pubkey, address.d);
  if (!sources_.postings.find_newest({term, 0, until})) return;
  for (PostingCursor cursor = sources_.postings.find({term, 0, until}); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    const DirectoryRow row = sources_.directory.row(sequence);
    // Versions leave no older one alive, so the first dead version ends the walk.
    if ((row.flags & kRowDead) != 0) break;
    if (has_address(address, row, sequence)) out.push_back(sequence);
  }
}

void AuthorRules::collect_vanished(PackedEventView request, const Bytes32& pubkey,
                                   std::vector<Sequence>& out) const {
  const PostingRange range{sources_.hasher.author(pubkey), 0, request.created_at()};
  for (PostingCursor cursor = sources_.postings.find(range); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    const DirectoryRow row = sources_.directory.row(sequence);
    if ((row.flags & kRowDead) == 0 && is_author(pubkey, row, sequence)) out.push_back(sequence);
  }
}

void AuthorRules::collect_wraps_to(const Bytes32& pubkey, std::uint64_t until,
                                   std::vector<Sequence>& out) const {
  const std::string hex = to_hex(pubkey.bytes);
  const PostingRange range{sources_.hasher.tag_kind('p', hex, nostr::kKindGiftWrap), 0, until};
  for (PostingCursor cursor = sources_.postings.find(range); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    const DirectoryRow row = sources_.directory.row(sequence);
    if ((row.flags & kRowDead) == 0 && is_wrap_to(hex, row, sequence)) out.push_back(sequence);
  }
}

bool AuthorRules::has_new_tombstones(PackedEventView request) const {
  // A vanish request reaches up to its own created_at, so an older one does not make it known.
  const std::uint64_t since = request.kind() == nostr::kKindVanish ? request.created_at() : 0;
  TermList terms;
  append_tombstones(sources_.hasher, request, terms);
  return std::any_of(terms.begin(), terms.end(),
                     [&](Term term) { return !is_posted(term, since); });
}

}  // namespace gyre::storage

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

bool has_recipient(PackedEventView wrap, std::string_view pubkey_hex) {
  bool found = false;
  for_each_value(wrap, 'p', [&](std::string_view value) { found = found || value == pubkey_hex; });
  return found;
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
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
}

Verdict AuthorRules::check(PackedEventView event) const {
  const Identity identity{event.id(), event.pubkey()};
  if (find_alive(identity.id)) return Verdict::kDuplicate;
  if (is_vanished(event, identity)) return Verdict::kVanished;
  if (is_deleted(event, identity)) return Verdict::kDeleted;
  if (is_stale(event, identity)) return Verdict::kStale;
  return Verdict::kAccept;
}

Verdict AuthorRules::check_ephemeral(PackedEventView event) const {
  return is_vanished(event, {event.id(), event.pubkey()}) ? Verdict::kVanished : Verdict::kAccept;
}

std::optional<Sequence> AuthorRules::find_alive(const Bytes32& id) const {
  const Term term = sources_.hasher.id(id);
  // Almost every id is new, and that answer needs no cursor.
  if (!sources_.postings.find_newest({term})) return std::nullopt;
  for (PostingCursor cursor = sources_.postings.find({term}); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    if (sources_.directory.is_dead(sequence)) continue;
    if (read_event(sources_, sequence).id() == id) return sequence;
  }
  return std::nullopt;
}

bool AuthorRules::is_posted(Term term, std::uint64_t since) const {
  return sources_.postings.find_newest({term, since, UINT64_MAX}).has_value();
}

bool AuthorRules::is_vanished(PackedEventView event, const Identity& identity) const {
  const std::uint64_t created_at = event.created_at();
  if (is_posted(sources_.hasher.vanished(identity.pubkey), created_at)) return true;
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
  if (is_posted(hasher.deleted_id(identity.id, identity.pubkey), 0)) return true;
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

bool AuthorRules::is_stale(PackedEventView event, const Identity& identity) const {
  const auto address = address_of(event, identity.pubkey);
  if (!address) return false;
  const Term term = sources_.hasher.address(address->kind, address->pubkey, address->d);
  // The newest version ever stored counts, dead or alive: neither expiry nor a deletion by id
  // uncovers an older one (nips.md 09-10, 40-06).
  const auto newest = sources_.postings.find_newest({term});
  if (!newest) return false;
  if (event.created_at() != newest->created_at) return event.created_at() < newest->created_at;
  return read_event(sources_, newest->sequence).id() <= identity.id;
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
    const auto sequence = find_alive(*id);
    if (!sequence) return;
    const PackedEventView target = read_event(sources_, *sequence);
    if (is_request(target.kind())) return;
    const bool is_own = target.pubkey() == pubkey;
    // A gift wrap is signed by a throw-away key; its recipient may delete it (nips.md 59-03).
    const bool is_recipient = is_gift_wrap(target) && has_recipient(target, request.pubkey_hex());
    if (is_own || is_recipient) out.push_back(*sequence);
  });
}

void AuthorRules::collect_by_address(const EventAddress& address, std::uint64_t until,
                                     std::vector<Sequence>& out) const {
  const Term term = sources_.hasher.address(address.kind, address.pubkey, address.d);
  if (!sources_.postings.find_newest({term, 0, until})) return;
  for (PostingCursor cursor = sources_.postings.find({term, 0, until}); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    // Versions leave no older one alive, so the first dead version ends the walk.
    if (sources_.directory.is_dead(sequence)) break;
    const PackedEventView version = read_event(sources_, sequence);
    const Bytes32 pubkey = version.pubkey();
    const auto its_address = address_of(version, pubkey);
    const bool is_same = its_address && its_address->kind == address.kind &&
                         its_address->pubkey == address.pubkey && its_address->d == address.d;
    if (is_same) out.push_back(sequence);
  }
}

void AuthorRules::collect_vanished(PackedEventView request, const Bytes32& pubkey,
                                   std::vector<Sequence>& out) const {
  const PostingRange range{sources_.hasher.author(pubkey), 0, request.created_at()};
  for (PostingCursor cursor = sources_.postings.find(range); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    if (sources_.directory.is_dead(sequence)) continue;
    if (read_event(sources_, sequence).pubkey() == pubkey) out.push_back(sequence);
  }
}

void AuthorRules::collect_wraps_to(const Bytes32& pubkey, std::uint64_t until,
                                   std::vector<Sequence>& out) const {
  const std::string hex = to_hex(pubkey.bytes);
  const PostingRange range{sources_.hasher.tag_kind('p', hex, nostr::kKindGiftWrap), 0, until};
  for (PostingCursor cursor = sources_.postings.find(range); !cursor.is_at_end();
       cursor.advance()) {
    const Sequence sequence = cursor.sequence();
    if (sources_.directory.is_dead(sequence)) continue;
    const PackedEventView wrap = read_event(sources_, sequence);
    if (is_gift_wrap(wrap) && has_recipient(wrap, hex)) out.push_back(sequence);
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

#include "gyre/storage/term.h"

#include <algorithm>
#include <cstring>

#include "gyre/nostr/kind.h"
#include "storage/siphash.h"

namespace gyre::storage {
namespace {

std::uint64_t key_half(const std::uint8_t* bytes) {
  std::uint64_t half;
  std::memcpy(&half, bytes, sizeof half);
  return half;
}

// Kinds in front of a variable part: two bytes, so that every type has one way to be cut.
std::array<std::uint8_t, 2> kind_bytes(std::uint16_t kind) {
  return {static_cast<std::uint8_t>(kind), static_cast<std::uint8_t>(kind >> 8)};
}

std::array<std::uint8_t, 34> kind_and_key_bytes(std::uint16_t kind, const Bytes32& pubkey) {
  std::array<std::uint8_t, 34> bytes;
  const auto head = kind_bytes(kind);
  std::copy(head.begin(), head.end(), bytes.begin());
  std::copy(pubkey.bytes.begin(), pubkey.bytes.end(), bytes.begin() + 2);
  return bytes;
}

bool is_tombstone_type(TermType type) {
  return type == TermType::kDeletedId || type == TermType::kDeletedAddress ||
         type == TermType::kVanished;
}

}  // namespace

TermHasher::TermHasher(const std::array<std::uint8_t, 16>& key)
    : key_{key_half(key.data()), key_half(key.data() + 8)},
      all_(hash(TermType::kAll, {}, {})),
      expiry_(hash(TermType::kExpiry, {}, {})) {}

Term TermHasher::all() const { return all_; }
Term TermHasher::expiry() const { return expiry_; }
Term TermHasher::unburied() const { return hash(TermType::kUnburied, {}, {}); }

Term TermHasher::id(const Bytes32& id) const { return hash(TermType::kId, id.bytes, {}); }

Term TermHasher::author(const Bytes32& pubkey) const {
  return hash(TermType::kAuthor, pubkey.bytes, {});
}

Term TermHasher::kind(std::uint16_t kind) const {
  return hash(TermType::kKind, kind_bytes(kind), {});
}

Term TermHasher::author_kind(const Bytes32& pubkey, std::uint16_t kind) const {
  return hash(TermType::kAuthorKind, kind_and_key_bytes(kind, pubkey), {});
}

Term TermHasher::tag(char letter, std::string_view value) const {
  const std::array<std::uint8_t, 1> head = {static_cast<std::uint8_t>(letter)};
  return hash(TermType::kTag, head, as_bytes(value));
}

Term TermHasher::tag_kind(char letter, std::string_view value, std::uint16_t kind) const {
  const auto number = kind_bytes(kind);
  const std::array<std::uint8_t, 3> head = {static_cast<std::uint8_t>(letter), number[0],
                                            number[1]};
  return hash(TermType::kTagKind, head, as_bytes(value));
}

Term TermHasher::address(std::uint16_t kind, const Bytes32& pubkey, std::string_view d) const {
  return hash(TermType::kAddress, kind_and_key_bytes(kind, pubkey), as_bytes(d));
}

Term TermHasher::deleted_id(const Bytes32& id, const Bytes32& requester) const {
  return hash(TermType::kDeletedId, id.bytes, requester.bytes);
}

Term TermHasher::deleted_address(std::uint16_t kind, const Bytes32& pubkey,
                                 std::string_view d) const {
  return hash(TermType::kDeletedAddress, kind_and_key_bytes(kind, pubkey), as_bytes(d));
}

Term TermHasher::vanished(const Bytes32& pubkey) const {
  return hash(TermType::kVanished, pubkey.bytes, {});
}

Term TermHasher::hash(TermType type, ByteSpan first, ByteSpan second) const {
  SipHash24 hash(key_[0], key_[1]);
  const auto type_byte = static_cast<std::uint8_t>(type);
  hash.absorb({&type_byte, 1});
  hash.absorb(first);
  hash.absorb(second);
  const Term term = hash.finish();
  return is_tombstone_type(type) ? term | kTombstoneBit : term & ~kTombstoneBit;
}

void append_query_terms(const TermHasher& hasher, nostr::PackedEventView event, TermList& out) {
  const std::size_t begin = out.size();
  const Bytes32 pubkey = event.pubkey();
  const std::uint16_t kind = event.kind();
  out.push_back(hasher.all());
  out.push_back(hasher.id(event.id()));
  out.push_back(hasher.author(pubkey));
  out.push_back(hasher.kind(kind));
  out.push_back(hasher.author_kind(pubkey, kind));
  const std::size_t tags_begin = out.size();
  for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
    const nostr::TagEntry entry = event.tag(i);
    if (!entry.has_value()) continue;
    const std::string_view value = event.tag_value(entry);
    out.push_back(hasher.tag(entry.letter(), value));
    if (has_tag_kind_term(entry.letter())) {
      out.push_back(hasher.tag_kind(entry.letter(), value, kind));
    }
  }
  // The address of an addressable event without a d tag, or with a bare one, ends in "", and a
  // filter for that finds it (NIP-01).
  if (nostr::kind_class(kind) == nostr::KindClass::kAddressable && event.d_tag().empty()) {
    out.push_back(hasher.tag('d', ""));
  }
  // Events repeat tags (a reply names its root twice); the five before cannot repeat.
  if (out.size() - tags_begin < 2) return;
  std::sort(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end());
  out.erase(std::unique(out.begin() + static_cast<std::ptrdiff_t>(begin), out.end()), out.end());
}

bool has_tag_kind_term(char letter) {
  switch (letter) {
    case 'e':
    case 'p':
    case 'a':
    case 't':
    case 'E':
    case 'A': return true;
    default: return false;
  }
}

}  // namespace gyre::storage

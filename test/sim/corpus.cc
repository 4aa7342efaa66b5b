#include "sim/corpus.h"

#include <algorithm>

#include "gyre/base/assert.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/kind.h"

namespace gyre::test {
namespace {

using nostr::KindClass;
using nostr::PackedEventView;

constexpr std::uint16_t kKinds[] = {1,      1,      1,      1,      7,    0,    3,
                                    10'002, 30'023, 30'023, 30'024, 1059, 1059, 21'059,
                                    4,      20'001, 20'001, 5,      5,    62};
constexpr const char* kWords[] = {"reef", "kelp", "otter"};

bool has_value(PackedEventView event, char letter, std::string_view value) {
  for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
    const nostr::TagEntry tag = event.tag(i);
    if (tag.letter() == letter && tag.has_value() && event.tag_value(tag) == value) return true;
  }
  return false;
}

// <kind>:<pubkey>:<d>, or nothing.
std::string address_of(PackedEventView event) {
  const KindClass kind_class = nostr::kind_class(event.kind());
  const std::string head =
      std::to_string(event.kind()) + ":" + std::string(event.pubkey_hex()) + ":";
  if (kind_class == KindClass::kReplaceable) return head;
  if (kind_class == KindClass::kAddressable) return head + std::string(event.d_tag());
  return {};
}

bool is_wrap_to(PackedEventView event, std::string_view pubkey_hex) {
  return event.kind() == nostr::kKindGiftWrap && has_value(event, 'p', pubkey_hex);
}

// What storing `killer` means for `event`, by NIP-01, NIP-09, NIP-59 and NIP-62.
bool kills(PackedEventView killer, PackedEventView event) {
  const bool is_concerned =
      killer.pubkey_hex() == event.pubkey_hex() || is_wrap_to(event, killer.pubkey_hex());
  const std::string address = address_of(event);
  switch (killer.kind()) {
    case nostr::kKindDeletion: {
      if (event.kind() == nostr::kKindDeletion || event.kind() == nostr::kKindVanish) return false;
      if (is_concerned && has_value(killer, 'e', event.id_hex())) return true;
      return !address.empty() && killer.pubkey_hex() == event.pubkey_hex() &&
             event.created_at() <= killer.created_at() && has_value(killer, 'a', address);
    }
    case nostr::kKindVanish: return is_concerned && event.created_at() <= killer.created_at();
    default: break;
  }
  if (address.empty() || address_of(killer) != address) return false;
  if (killer.created_at() != event.created_at()) return killer.created_at() > event.created_at();
  return killer.id_hex() < event.id_hex();
}

void append_list(std::string& out, std::string_view name, const std::vector<std::string>& values) {
  if (out.size() > 1) out += ',';
  out += '"';
  out += name;
  out += "\":[";
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i != 0) out += ',';
    out += values[i];
  }
  out += ']';
}

void append_number(std::string& out, std::string_view name, std::uint64_t value) {
  if (out.size() > 1) out += ',';
  out += '"' + std::string(name) + "\":" + std::to_string(value);
}

std::string quoted(std::string_view text) { return '"' + std::string(text) + '"'; }

}  // namespace

bool CorpusEvent::is_ephemeral() const {
  return nostr::kind_class(view().kind()) == KindClass::kEphemeral;
}

Corpus::Corpus(Random& random, std::size_t count, std::uint64_t large_percent, std::int64_t now_s)
    : random_(random) {
  while (events_.size() < count) add_event(large_percent, now_s);
  find_killers();
}

EventIndex Corpus::some_ephemeral() {
  while (true) {
    const EventIndex index = below(size());
    if (events_[index].is_ephemeral()) return index;
  }
}

std::optional<EventIndex> Corpus::find(std::string_view id_hex) const {
  const auto found = by_id_.find(std::string(id_hex));
  if (found == by_id_.end()) return std::nullopt;
  return found->second;
}

std::string Corpus::some_id() {
  if (events_.empty()) return std::string(64, '0');
  return std::string(events_[below(events_.size())].view().id_hex());
}

void Corpus::add_event(std::uint64_t large_percent, std::int64_t now_s) {
  EventDraft draft;
  draft.key_index = static_cast<std::uint32_t>(below(kAuthors));
  draft.kind = kKinds[below(std::size(kKinds))];
  if (draft.kind == nostr::kKindVanish && chance(60)) draft.kind = 1;
  // Few seconds for many events, so that ties are common.
  draft.created_at = static_cast<std::uint64_t>(now_s) - 100 + below(30);
  const std::uint64_t filling = chance(large_percent) ? below(20'000) : 0;
  draft.content = std::to_string(below(1'000'000)) + std::string(filling, 'c');
  add_tags_of_kind(draft);
  if (chance(8)) {
    const auto due = static_cast<std::uint64_t>(now_s) + 1 + below(200);
    draft.tags.push_back({"expiration", std::to_string(due)});
  }
  if (chance(draft.kind == nostr::kKindVanish ? 40 : 4)) draft.tags.push_back({"-"});

  CorpusEvent event;
  event.key_index = draft.key_index;
  event.json = sign_event(draft);
  event.has_bad_signature = chance(5);
  if (event.has_bad_signature) {
    char& digit = event.json[event.json.size() - 10];
    digit = digit == '0' ? '1' : '0';
  }
  event.packed = pack_event_text(event.json);
  event.is_vanish_elsewhere =
      draft.kind == nostr::kKindVanish && draft.tags.front().at(1) == "wss://elsewhere.test";
  if (by_id_.emplace(event.view().id_hex(), events_.size()).second) {
    events_.push_back(std::move(event));
  }
}

void Corpus::add_tags_of_kind(EventDraft& draft) {
  switch (draft.kind) {
    case nostr::kKindVanish: {
      const std::uint64_t whom = below(3);
      draft.tags.push_back({"relay", whom == 0   ? "ALL_RELAYS"
                                     : whom == 1 ? std::string(kRelayUrl)
                                                 : "wss://elsewhere.test"});
      // Else too little would be left of the author to look at.
      draft.created_at -= 20;
      return;
    }
    case nostr::kKindDeletion:
      for (std::uint64_t i = below(4); i > 0; --i) draft.tags.push_back({"e", some_id()});
      if (chance(30)) {
        draft.tags.push_back({"a", "30023:" + pubkey_hex(draft.key_index) + ":reef"});
      }
      return;
    case nostr::kKindGiftWrap:
    case nostr::kKindEphemeralGiftWrap:
    case nostr::kKindEncryptedDirectMessage: draft.tags.push_back({"p", some_pubkey()}); return;
    default: break;
  }
  if (nostr::kind_class(draft.kind) == KindClass::kAddressable && chance(80)) {
    draft.tags.push_back({"d", chance(50) ? "reef" : ""});
  }
  for (std::uint64_t i = below(3); i > 0; --i) draft.tags.push_back({"t", kWords[below(3)]});
  if (chance(30)) draft.tags.push_back({"p", some_pubkey()});
  if (chance(30)) draft.tags.push_back({"e", some_id()});
}

void Corpus::find_killers() {
  for (CorpusEvent& event : events_) {
    for (EventIndex killer = 0; killer < events_.size(); ++killer) {
      const CorpusEvent& other = events_[killer];
      if (&other == &event || other.has_bad_signature || other.is_vanish_elsewhere) continue;
      if (kills(other.view(), event.view())) event.killers.push_back(killer);
    }
  }
}

bool Corpus::may_read(PackedEventView event, const std::vector<std::uint32_t>& keys) {
  if (!is_gated(event.kind())) return true;
  return std::any_of(keys.begin(), keys.end(), [&](std::uint32_t key) {
    const std::string hex = pubkey_hex(key);
    return has_value(event, 'p', hex) || (event.kind() == 4 && event.pubkey_hex() == hex);
  });
}

Corpus::FilterText Corpus::make_filter() {
  std::string json = "{";
  const auto list = [&](std::string_view name, auto&& make) {
    std::vector<std::string> values;
    for (std::uint64_t i = 1 + below(3); i > 0; --i) values.push_back(make());
    append_list(json, name, values);
  };
  if (chance(15)) list("ids", [&] { return quoted(some_id()); });
  if (chance(30)) list("authors", [&] { return quoted(some_pubkey()); });
  if (chance(45)) list("kinds", [&] { return std::to_string(kKinds[below(std::size(kKinds))]); });
  if (chance(15)) list("#t", [&] { return quoted(kWords[below(3)]); });
  if (chance(10)) list("#p", [&] { return quoted(some_pubkey()); });
  if (chance(5)) list("#e", [&] { return quoted(some_id()); });
  if (chance(5)) list("#d", [&] { return quoted(chance(50) ? "reef" : ""); });
  const std::uint64_t around = events_[below(events_.size())].view().created_at();
  if (chance(15)) append_number(json, "since", around);
  if (chance(15)) append_number(json, "until", around + below(5));
  if (chance(30)) append_number(json, "limit", below(10) == 0 ? 0 : below(60));
  json += '}';

  static thread_local nostr::MessageParser parser{nostr::MessageLimits{}};
  std::string padded = json;
  padded.append(nostr::MessageParser::kPadding, '\0');
  const nostr::ClientMessage& message =
      parser.parse_filter(std::string_view(padded).substr(0, json.size()));
  GYRE_ASSERT(message.kind == nostr::MessageKind::kReq);
  return {std::move(json), message.filters.front()};
}

}  // namespace gyre::test

// NaiveRules: what NIP-01, NIP-09, NIP-40, NIP-59 and NIP-62 say about one shard's events, as
// plainly as it can be said. The twin of Store's decisions.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "unit/storage/store_harness.h"

namespace gyre::storage {

class NaiveRules {
 public:
  [[nodiscard]] Verdict verdict(nostr::PackedEventView event, std::int64_t now_s) const {
    const auto expiration = event.expiration();
    if (expiration && static_cast<std::int64_t>(*expiration) <= now_s) return Verdict::kExpired;
    if (alive.contains(std::string(event.id_hex()))) return Verdict::kDuplicate;
    if (is_vanished(event)) return Verdict::kVanished;
    if (is_deleted(event)) return Verdict::kDeleted;
    const auto newest = newest_.find(address_of_event(event));
    if (newest != newest_.end() && newest->second <= age_and_id(event)) return Verdict::kStale;
    return Verdict::kAccept;
  }

  void accept(const PackedEvent& packed) {
    const nostr::PackedEventView event = view_of(packed);
    const std::string address = address_of_event(event);
    if (!address.empty()) {
      kill([&](nostr::PackedEventView other) { return address_of_event(other) == address; });
      newest_[address] = age_and_id(event);
    }
    if (event.kind() == nostr::kKindVanish) {
      kill([&](nostr::PackedEventView other) {
        return other.pubkey_hex() == event.pubkey_hex() && other.created_at() <= event.created_at();
      });
    }
    take_effect(event);
    alive[std::string(event.id_hex())] = packed;
  }

  void accept_foreign(const PackedEvent& request) { take_effect(view_of(request)); }

  void sweep(std::int64_t now_s) {
    kill([&](nostr::PackedEventView event) {
      const auto expiration = event.expiration();
      return expiration && static_cast<std::int64_t>(*expiration) <= now_s;
    });
  }

  std::map<std::string, PackedEvent> alive;  // By id.

 private:
  // Sorts newest first, ties by lowest id.
  static std::pair<std::int64_t, std::string> age_and_id(nostr::PackedEventView event) {
    return {-static_cast<std::int64_t>(event.created_at()), std::string(event.id_hex())};
  }

  static std::vector<std::string> values(nostr::PackedEventView event, char letter) {
    std::vector<std::string> found;
    for (std::uint32_t i = 0; i < event.tag_count(); ++i) {
      const nostr::TagEntry tag = event.tag(i);
      if (tag.letter() == letter && tag.has_value()) found.emplace_back(event.tag_value(tag));
    }
    return found;
  }

  // <kind>:<pubkey>:<d>, or nothing.
  static std::string address_of_event(nostr::PackedEventView event) {
    const auto kind_class = nostr::kind_class(event.kind());
    const std::string head =
        std::to_string(event.kind()) + ":" + std::string(event.pubkey_hex()) + ":";
    if (kind_class == nostr::KindClass::kReplaceable) return head;
    if (kind_class == nostr::KindClass::kAddressable) return head + std::string(event.d_tag());
    return {};
  }

  static bool is_wrap_to(nostr::PackedEventView event, std::string_view pubkey_hex) {
    if (event.kind() != nostr::kKindGiftWrap) return false;
    for (const std::string& value : values(event, 'p')) {
      if (value == pubkey_hex) return true;
    }
    return false;
  }

  bool is_vanished(nostr::PackedEventView event) const {
    for (const auto& [pubkey_hex, until] : vanished_) {
      const bool is_concerned = event.pubkey_hex() == pubkey_hex || is_wrap_to(event, pubkey_hex);
      if (is_concerned && event.created_at() <= until) return true;
    }
    return false;
  }

  bool is_deleted(nostr::PackedEventView event) const {
    if (event.kind() == nostr::kKindDeletion || event.kind() == nostr::kKindVanish) return false;
    for (const auto& [id, requester] : deleted_ids_) {
      const bool may = event.pubkey_hex() == requester || is_wrap_to(event, requester);
      if (may && event.id_hex() == id) return true;
    }
    const auto deleted = deleted_addresses_.find(address_of_event(event));
    return deleted != deleted_addresses_.end() && event.created_at() <= deleted->second;
  }

  void take_effect(nostr::PackedEventView request) {
    const std::string requester(request.pubkey_hex());
    if (request.kind() == nostr::kKindVanish) {
      kill([&](nostr::PackedEventView event) {
        return is_wrap_to(event, requester) && event.created_at() <= request.created_at();
      });
      vanished_[requester] = std::max(vanished_[requester], request.created_at());
    }
    if (request.kind() != nostr::kKindDeletion) return;
    for (const std::string& id : values(request, 'e')) deleted_ids_.emplace(id, requester);
    for (const std::string& address : values(request, 'a')) {
      if (address.find(":" + requester + ":") == std::string::npos) continue;
      deleted_addresses_[address] = std::max(deleted_addresses_[address], request.created_at());
    }
    kill([this](nostr::PackedEventView event) { return is_deleted(event); });
  }

  template <typename Condemned>
  void kill(const Condemned& condemned) {
    std::erase_if(alive, [&](const auto& entry) { return condemned(view_of(entry.second)); });
  }

  std::map<std::string, std::pair<std::int64_t, std::string>> newest_;  // By address.
  std::set<std::pair<std::string, std::string>> deleted_ids_;           // With the requester.
  std::map<std::string, std::uint64_t> deleted_addresses_;
  std::map<std::string, std::uint64_t> vanished_;  // By pubkey.
};

}  // namespace gyre::storage

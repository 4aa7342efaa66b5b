#include "differential/plain_relay.h"

#include <algorithm>

namespace gyre::test {
namespace {

constexpr std::uint16_t kDeletion = 5;

bool is_ephemeral(std::uint16_t kind) { return kind >= 20'000 && kind < 30'000; }
bool is_addressable(std::uint16_t kind) { return kind >= 30'000 && kind < 40'000; }
bool is_replaceable(std::uint16_t kind) {
  return kind == 0 || kind == 3 || (kind >= 10'000 && kind < 20'000);
}

// <kind>:<pubkey>:<d>, or nothing.
std::string address_of(const PlainEvent& event) {
  const std::string head = std::to_string(event.kind) + ':' + event.pubkey + ':';
  if (is_replaceable(event.kind)) return head;
  if (!is_addressable(event.kind)) return {};
  for (const auto& tag : event.tags) {
    if (tag[0] == "d") return head + (tag.size() > 1 ? tag[1] : "");
  }
  return head;
}

bool names(const PlainEvent& request, const std::string& letter, const std::string& value) {
  return std::ranges::any_of(request.tags,
                             [&](const auto& tag) { return tag[0] == letter && tag[1] == value; });
}

bool deletes(const PlainEvent& request, const PlainEvent& event) {
  if (request.pubkey != event.pubkey || event.kind == kDeletion) return false;
  if (names(request, "e", event.id)) return true;
  const std::string address = address_of(event);
  return !address.empty() && event.created_at <= request.created_at && names(request, "a", address);
}

}  // namespace

bool PlainRelay::is_newer(Index left, Index right) const {
  const PlainEvent& a = events_[left];
  const PlainEvent& b = events_[right];
  if (a.created_at != b.created_at) return a.created_at > b.created_at;
  return a.id < b.id;
}

bool PlainRelay::is_deleted(const PlainEvent& event) const {
  return std::ranges::any_of(requests_,
                             [&](Index request) { return deletes(events_[request], event); });
}

void PlainRelay::replace_older(Index index) {
  const std::string address = address_of(events_[index]);
  if (address.empty()) return;
  versions_.push_back(index);
  std::erase_if(alive_, [&](Index other) { return address_of(events_[other]) == address; });
}

void PlainRelay::obey_deletion(const PlainEvent& request) {
  std::erase_if(alive_, [&](Index other) { return deletes(request, events_[other]); });
}

bool PlainRelay::take(Index index) {
  const PlainEvent& event = events_[index];
  if (is_ephemeral(event.kind)) return true;
  if (is_deleted(event)) return false;
  const std::string address = address_of(event);
  const bool is_stale = !address.empty() && std::ranges::any_of(versions_, [&](Index other) {
    return address_of(events_[other]) == address && is_newer(other, index);
  });
  if (is_stale) return false;
  replace_older(index);
  if (event.kind == kDeletion) {
    requests_.push_back(index);
    obey_deletion(event);
  }
  const auto place = std::ranges::lower_bound(
      alive_, index, [this](Index left, Index right) { return is_newer(left, right); });
  alive_.insert(place, index);
  return true;
}

std::vector<PlainRelay::Index> PlainRelay::stored(std::span<const PlainFilter> filters) const {
  std::vector<Index> found;
  for (const PlainFilter& filter : filters) {
    std::uint64_t room = filter.limit.value_or(UINT64_MAX);
    for (const Index index : alive_) {
      if (room == 0) break;
      if (!filter.matches(events_[index])) continue;
      found.push_back(index);
      --room;
    }
  }
  std::ranges::sort(found, [this](Index left, Index right) { return is_newer(left, right); });
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool PlainRelay::may_hint(std::span<const PlainFilter> filters, const std::string& hint) const {
  const bool is_complete = stored(filters).size() == count(filters);
  if (hint == "finish") return is_complete;
  if (hint == "more") return !is_complete;
  if (filters.size() == 1) return filters[0].limit == 0;
  return std::ranges::any_of(filters, [this](const PlainFilter& filter) {
    return filter.limit && (filter.limit == 0 || count({&filter, 1}) > *filter.limit);
  });
}

std::uint64_t PlainRelay::count(std::span<const PlainFilter> filters) const {
  return static_cast<std::uint64_t>(std::ranges::count_if(alive_, [&](Index index) {
    return std::ranges::any_of(
        filters, [&](const PlainFilter& filter) { return filter.matches(events_[index]); });
  }));
}

}  // namespace gyre::test

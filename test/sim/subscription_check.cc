#include "sim/subscription_check.h"

#include <algorithm>

#include "gyre/nostr/kind.h"

namespace gyre::test {
namespace {

// Newest first, ties by lowest id.
bool comes_before(nostr::PackedEventView a, nostr::PackedEventView b) {
  if (a.created_at() != b.created_at()) return a.created_at() > b.created_at();
  return a.id_hex() < b.id_hex();
}

}  // namespace

SubscriptionCheck::SubscriptionCheck(Ledger& ledger, std::vector<Corpus::FilterText> filters,
                                     FilterLimits limits, std::vector<std::uint32_t> keys,
                                     std::int64_t now_s)
    : ledger_(ledger),
      filters_(std::move(filters)),
      limits_(limits),
      keys_(std::move(keys)),
      requested_(ledger.tick()),
      requested_s_(now_s),
      delivered_(ledger.corpus().size()) {}

bool SubscriptionCheck::matches(EventIndex index) const {
  const nostr::PackedEventView event = ledger_.corpus()[index].view();
  return std::any_of(filters_.begin(), filters_.end(),
                     [&](const auto& each) { return each.filter.matches(event); });
}

bool SubscriptionCheck::is_for_gated_only() const {
  return std::any_of(filters_.begin(), filters_.end(), [](const auto& each) {
    return each.filter.has_kinds() &&
           std::all_of(each.filter.kinds.begin(), each.filter.kinds.end(), Corpus::is_gated);
  });
}

std::string SubscriptionCheck::to_string() const {
  std::string text;
  for (const auto& each : filters_) text += (text.empty() ? "" : ",") + each.json;
  return text;
}

void SubscriptionCheck::wrong(const std::string& what, EventIndex index) const {
  throw Violation(what + ": REQ at " + std::to_string(requested_) + " " + to_string() + ", EOSE " +
                  (has_eose() ? std::to_string(eose_) : "not yet") + ", event " +
                  ledger_.describe(index));
}

void SubscriptionCheck::take_event(EventIndex index, const std::vector<std::uint32_t>& keys) {
  if (is_blurred_ && !matches(index)) return;
  const CorpusEvent& event = ledger_.corpus()[index];
  if (ledger_[index].first_sent == kNever) wrong("an event that nobody sent", index);
  if (event.has_bad_signature) wrong("an event with a bad signature", index);
  if (event.is_vanish_elsewhere) wrong("a request to vanish elsewhere", index);
  if (!matches(index)) wrong("an event outside the filters", index);
  if (!Corpus::may_read(event.view(), keys)) wrong("an event for others", index);
  const std::uint32_t times_max = event.is_ephemeral() ? ledger_[index].send_count : 1;
  if (++delivered_[index] > times_max && !is_blurred_) wrong("an event once more", index);
  if (!has_eose()) return take_stored(index);
  if (!is_blurred_ && is_quiet_vanish(index) && ledger_[index].first_sent > eose_) {
    wrong("a request to vanish from here alone, live", index);
  }
}

void SubscriptionCheck::take_stored(EventIndex index) {
  stored_.push_back(index);
  if (is_blurred_) return;
  const CorpusEvent& event = ledger_.corpus()[index];
  if (event.is_ephemeral()) wrong("an ephemeral event before EOSE", index);
  if (!Corpus::may_read(event.view(), keys_)) wrong("a stored event for others", index);
  if (event.is_expired(requested_s_)) wrong("an expired event", index);
  if (ledger_.is_surely_dead(index, requested_)) wrong("a dead event", index);
  if (!is_within_limits(event.view())) wrong("an event over the limit", index);
  if (stored_.size() < 2) return;
  const CorpusEvent& previous = ledger_.corpus()[stored_[stored_.size() - 2]];
  if (!comes_before(previous.view(), event.view())) wrong("an event out of order", index);
}

std::uint64_t SubscriptionCheck::limit_of(const nostr::Filter& filter) const {
  return std::min(filter.limit.value_or(limits_.limit_default), limits_.limit_max);
}

// By some filter that has room for it, and within what a whole REQ may give. A limit that is the
// relay's ends with a whole second (nips.md 67-03).
bool SubscriptionCheck::is_within_limits(nostr::PackedEventView event) {
  bool is_within = false;
  std::uint64_t sum = 0;
  given_.resize(filters_.size() + 1);
  for (std::size_t i = 0; i < filters_.size(); ++i) {
    const nostr::Filter& filter = filters_[i].filter;
    const std::uint64_t limit = limit_of(filter);
    sum += limit;
    if (!filter.matches(event)) continue;
    const bool is_own = filter.limit == limit;
    is_within = take_one(given_[i], limit, is_own, event.created_at()) || is_within;
  }
  const bool is_total_within =
      sum <= limits_.limit_max ||
      take_one(given_.back(), limits_.limit_max, false, event.created_at());
  return is_within && is_total_within;
}

bool SubscriptionCheck::take_one(Given& given, std::uint64_t limit, bool is_exact,
                                 std::uint64_t created_at) {
  if (given.count >= limit && (is_exact || created_at != given.last_created_at)) return false;
  ++given.count;
  given.last_created_at = created_at;
  return true;
}

void SubscriptionCheck::take_eose(std::int64_t now_s) {
  if (has_eose() && !is_blurred_) throw Violation("a second EOSE: " + to_string());
  eose_ = ledger_.tick();
  eose_s_ = now_s;
}

void SubscriptionCheck::check_settled() const {
  if (!has_eose()) throw Violation("no EOSE: " + to_string());
  for (EventIndex index = 0; index < ledger_.corpus().size(); ++index) {
    if (was_delivered(index) || ledger_[index].accepted == kNever || !matches(index)) continue;
    if (!Corpus::may_read(ledger_.corpus()[index].view(), keys_)) continue;
    if (must_have_been_stored(index)) wrong("a stored event is missing", index);
    if (must_have_been_live(index)) wrong("a live event is missing", index);
  }
}

bool SubscriptionCheck::was_delivered(EventIndex index) const { return delivered_[index] > 0; }

bool SubscriptionCheck::must_have_been_live(EventIndex index) const {
  return ledger_[index].first_sent > eose_ && !is_quiet_vanish(index);
}

// Only one that is meant for all relays goes to subscribers (nips.md 62-08).
bool SubscriptionCheck::is_quiet_vanish(EventIndex index) const {
  const CorpusEvent& event = ledger_.corpus()[index];
  return event.view().kind() == nostr::kKindVanish &&
         event.json.find("ALL_RELAYS") == std::string::npos;
}

// Also what was accepted while the query ran: it is in one part or in the other.
bool SubscriptionCheck::must_have_been_stored(EventIndex index) const {
  if (limits_.may_miss_stored || has_unclear_start_ || may_be_cut_before(index)) return false;
  if (is_quiet_vanish(index) && ledger_[index].accepted > requested_) return false;
  if (ledger_[index].first_sent > eose_) return false;
  return ledger_.is_surely_stored(index, kNever, eose_, eose_s_);
}

// Whether limits may have ended the stored part before this event's turn.
bool SubscriptionCheck::may_be_cut_before(EventIndex index) const {
  const nostr::PackedEventView event = ledger_.corpus()[index].view();
  for (const auto& each : filters_) {
    if (!each.filter.matches(event)) continue;
    const auto yielded = static_cast<std::uint64_t>(
        std::count_if(stored_.begin(), stored_.end(), [&](EventIndex other) {
          const nostr::PackedEventView view = ledger_.corpus()[other].view();
          return each.filter.matches(view) && comes_before(view, event);
        }));
    if (yielded < limit_of(each.filter) && stored_.size() < limits_.limit_max) return false;
  }
  return true;
}

}  // namespace gyre::test

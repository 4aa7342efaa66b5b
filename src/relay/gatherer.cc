#include "relay/gatherer.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/nostr/relay_message.h"

namespace gyre::relay {
namespace {

// Stored results stop being sent while more than this waits in the connection's queue, or half of
// what it may queue: below the limit at which a slow client is dropped, so a slow reader only
// pauses its own query.
constexpr std::uint64_t kQueuedBytesHigh = 256 * 1024;

// Newest first, ties by lowest id (NIP-01).
bool comes_before(nostr::PackedEventView a, nostr::PackedEventView b) {
  if (a.created_at() != b.created_at()) return a.created_at() > b.created_at();
  return a.id_hex() < b.id_hex();
}

}  // namespace

Gather::Lane* Gather::find_lane(ShardId owner) {
  const auto found = std::find_if(lanes.begin(), lanes.end(),
                                  [owner](const Lane& lane) { return lane.owner == owner; });
  return found == lanes.end() ? nullptr : &*found;
}

bool Gather::is_ended() const {
  return !is_scattered ||
         std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.is_last; });
}

bool Gather::has_started() const {
  return std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) { return lane.has_started; });
}

Gather& Gatherer::make(Session& session, std::shared_ptr<const QueryRequest> request,
                       std::span<const ShardId> owners) {
  GYRE_ASSERT(!owners.empty());
  if (free_.empty()) {
    free_.push_back(static_cast<QueryId>(gathers_.size()));
    gathers_.emplace_back();
  }
  const QueryId id = free_.back();
  free_.pop_back();
  gathers_[id] = std::make_unique<Gather>();
  Gather& gather = *gathers_[id];
  gather.id = id;
  gather.session = &session;
  gather.limits = request->limits;
  // What such a filter leaves out is not asked for.
  for (std::size_t i = 0; i < request->filters.size(); ++i) {
    const bool wants_nothing = request->limits.filter_limits[i].count() == 0;
    gather.is_cut = gather.is_cut || (wants_nothing && !request->filters[i].matches_nothing);
  }
  gather.request = std::move(request);
  gather.lanes.resize(owners.size());
  for (std::size_t i = 0; i < owners.size(); ++i) gather.lanes[i].owner = owners[i];
  return gather;
}

// Asks the owners now, or when the session has few enough queries under way. An event published
// before that belongs to the stored part, as for any owner that has not begun.
void Gatherer::begin(Gather& gather) {
  Session& session = *gather.session;
  if (session.queries_running >= Gather::kRunningMax) {
    session.queries_waiting.push_back(gather.id);
    return;
  }
  scatter(gather);
}

// The session no longer waits for this query, so the next may begin.
void Gatherer::detach(Gather& gather) {
  Session& session = *gather.session;
  gather.session = nullptr;
  if (!gather.is_scattered) {
    std::erase(session.queries_waiting, gather.id);
    return;
  }
  --session.queries_running;
  if (session.queries_waiting.empty()) return;
  Gather& next = *gathers_[session.queries_waiting.front()];
  session.queries_waiting.erase(session.queries_waiting.begin());
  scatter(next);
}

void Gatherer::scatter(Gather& gather) {
  gather.is_scattered = true;
  ++gather.session->queries_running;
  for (const Gather::Lane& lane : gather.lanes) {
    Query query;
    query.query = gather.id;
    query.owner_count = static_cast<std::uint32_t>(gather.lanes.size());
    query.request = gather.request.get();
    outbox_.send(lane.owner, query);
  }
}

void Gatherer::start(Session& session, Subscription& subscription,
                     std::span<const ShardId> owners) {
  Gather& gather = make(session, subscription.request, owners);
  gather.subscription = &subscription;
  subscription.gather = &gather;
  begin(gather);
}

void Gatherer::start_count(Session& session, std::shared_ptr<const QueryRequest> request,
                           std::string count_id, std::span<const ShardId> owners) {
  Gather& gather = make(session, std::move(request), owners);
  gather.count_id = std::move(count_id);
  begin(gather);
}

void Gatherer::on_batch(ShardId from, const Batch& batch) {
  SharedBytes events = SharedBytes::adopt(batch.events);
  GYRE_ASSERT_CMP(batch.query, <, gathers_.size());
  GYRE_ASSERT(gathers_[batch.query] != nullptr);
  Gather& gather = *gathers_[batch.query];
  GYRE_ASSERT(gather.find_lane(from) != nullptr);
  Gather::Lane& lane = *gather.find_lane(from);
  GYRE_ASSERT(!lane.is_last);
  lane.has_started = true;
  lane.is_last = batch.is_last != 0;
  gather.is_out_of_time = gather.is_out_of_time || batch.is_out_of_time != 0;
  if (gather.session == nullptr) {
    release_if_ended(gather);
    return;
  }
  if (gather.request->mode == QueryRequest::Mode::kCount) {
    gather.count += batch.count;
    pump_count(gather);
    return;
  }
  if (!events.is_null()) {
    GYRE_ASSERT_CMP(lane.batch_count, <, Gather::kBatchesAhead);
    lane.batches[lane.batch_count++] = ResultBatchReader(std::move(events));
  }
  Session& session = *gather.session;
  const bool has_started = gather.has_started();
  pump(gather);  // May end the gather.
  if (has_started) listener_.on_query_started(session);
}

void Gatherer::pump_count(Gather& gather) {
  if (!gather.is_ended()) return;
  Session& session = *gather.session;
  if (gather.is_out_of_time) {
    listener_.on_out_of_time(session, nullptr, gather.count_id);
  } else {
    listener_.on_count(session, gather.count_id, gather.count);
  }
  detach(gather);
  release_if_ended(gather);
}

bool Gatherer::has_taken_enough(const net::Connection& connection) const {
  const std::uint64_t high = std::min(kQueuedBytesHigh, limits_.send_queue_bytes / 2);
  // Not below kResumeBytes: only a queue that was above it tells when it has drained.
  return connection.queued_bytes() > std::max<std::uint64_t>(high, net::Connection::kResumeBytes);
}

void Gatherer::pump(Gather& gather) {
  while (true) {
    if (has_taken_enough(*gather.session->connection)) {
      gather.waits_for_drain = true;
      return;
    }
    bool has_event = false;
    for (const Gather::Lane& lane : gather.lanes) {
      if (lane.batch_count > 0) {
        has_event = true;
      } else if (!lane.is_last) {
        return;  // Its next event may be newer than all others.
      }
    }
    if (!has_event || !send_next(gather)) {
      finish(gather);
      return;
    }
  }
}

// Sends the newest event at hand; false if the limits leave room for no more.
bool Gatherer::send_next(Gather& gather) {
  Gather::Lane* newest = nullptr;
  for (Gather::Lane& lane : gather.lanes) {
    if (lane.batch_count == 0) continue;
    const bool is_newer =
        newest == nullptr || comes_before(lane.batches[0].event(), newest->batches[0].event());
    if (is_newer) newest = &lane;
  }
  const ResultBatchReader& reader = newest->batches[0];
  const nostr::PackedEventView event = reader.event();
  if (admit(gather, event)) {
    net::SharedBody body{.text = event.json(), .owner = &reader.block()};
    gather.session->connection->send_text_shared(gather.subscription->event_prefix, body,
                                                 nostr::kEventSuffix);
  }
  pop(gather, *newest);
  return !admits_no_more(gather);
}

// Whether the limits let the event through; notes what they keep back.
bool Gatherer::admit(Gather& gather, nostr::PackedEventView event) {
  const QueryRequest& request = *gather.request;
  const std::uint64_t created_at = event.created_at();
  bool is_admitted = false;
  bool is_kept_back = false;  // By a limit other than 0, which asks for no stored events at all.
  for (std::size_t i = 0; i < request.filters.size(); ++i) {
    storage::ResultLimit& limit = gather.limits.filter_limits[i];
    // Of one filter the owners send nothing else.
    if (request.filters.size() > 1 && !request.filters[i].matches(event)) continue;
    if (limit.admits(created_at)) {
      limit.give(created_at);
      is_admitted = true;
    } else {
      gather.is_cut = true;
      is_kept_back = is_kept_back || limit.count() != 0;
    }
  }
  storage::ResultLimit& total = gather.limits.total_limit;
  if (is_admitted && total.admits(created_at)) {
    total.give(created_at);
    return true;
  }
  gather.is_cut = true;
  gather.has_more = gather.has_more || is_admitted || is_kept_back;
  return false;
}

// Nothing that may still come would be sent, or change the hint.
bool Gatherer::admits_no_more(const Gather& gather) {
  const auto is_spent = [](const storage::ResultLimit& limit) { return limit.is_spent(); };
  const bool is_over = is_spent(gather.limits.total_limit) ||
                       std::ranges::all_of(gather.limits.filter_limits, is_spent);
  return is_over && (gather.has_more || gather.limits.beyond == storage::ScanLimits::Beyond::kNone);
}

nostr::EoseHint Gatherer::hint_of(const Gather& gather) {
  if (gather.limits.beyond == storage::ScanLimits::Beyond::kNone) return nostr::EoseHint::kNone;
  if (gather.has_more) return nostr::EoseHint::kMore;
  return gather.is_cut ? nostr::EoseHint::kNone : nostr::EoseHint::kFinish;
}

void Gatherer::pop(Gather& gather, Gather::Lane& lane) {
  lane.batches[0].advance();
  if (!lane.batches[0].is_at_end()) return;
  std::move(lane.batches.begin() + 1, lane.batches.end(), lane.batches.begin());
  lane.batches.back() = ResultBatchReader();
  --lane.batch_count;
  if (lane.is_last) return;
  More more;
  more.query = gather.id;
  outbox_.send(lane.owner, more);
}

void Gatherer::finish(Gather& gather) {
  Session& session = *gather.session;
  Subscription& subscription = *gather.subscription;
  const bool is_out_of_time = gather.is_out_of_time;
  const nostr::EoseHint hint = hint_of(gather);
  abandon(gather);
  if (is_out_of_time) {
    listener_.on_out_of_time(session, &subscription, {});
  } else {
    listener_.on_stored_end(subscription, hint);
  }
}

void Gatherer::abandon(Gather& gather) {
  if (gather.subscription != nullptr) gather.subscription->gather = nullptr;
  if (gather.session != nullptr) detach(gather);
  gather.subscription = nullptr;
  for (Gather::Lane& lane : gather.lanes) {
    lane.batches = {};
    lane.batch_count = 0;
    if (lane.is_last || !gather.is_scattered) continue;
    Cancel cancel;
    cancel.query = gather.id;
    outbox_.send(lane.owner, cancel);
  }
  release_if_ended(gather);
}

void Gatherer::abandon_all(Session& session) {
  session.queries_waiting.clear();  // Or ending one would begin the next.
  for (const auto& subscription : session.subscriptions) {
    if (subscription->gather != nullptr) abandon(*subscription->gather);
  }
  if (session.counts_in_flight == 0) return;
  for (QueryId id = 0; id < gathers_.size(); ++id) {
    Gather* const gather = gathers_[id].get();
    if (gather != nullptr && gather->session == &session) abandon(*gather);
  }
}

void Gatherer::on_drained(Session& session) {
  const auto waits = [](const auto& subscription) {
    return subscription->gather != nullptr && subscription->gather->waits_for_drain;
  };
  // Looked up anew each time: a query that ends may take its subscription out of the list.
  while (!has_taken_enough(*session.connection)) {
    const auto found =
        std::find_if(session.subscriptions.begin(), session.subscriptions.end(), waits);
    if (found == session.subscriptions.end()) return;
    Gather& gather = *(*found)->gather;
    gather.waits_for_drain = false;
    pump(gather);
  }
}

void Gatherer::release_if_ended(Gather& gather) {
  if (gather.session != nullptr || !gather.is_ended()) return;
  const QueryId id = gather.id;
  gathers_[id].reset();
  free_.push_back(id);
}

}  // namespace gyre::relay

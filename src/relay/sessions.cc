#include "relay/sessions.h"

#include <algorithm>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/nostr/json_text.h"
#include "gyre/nostr/kind.h"
#include "gyre/nostr/relay_message.h"
#include "gyre/nostr/repost.h"
#include "gyre/storage/store.h"

namespace gyre::relay {
namespace {

using nostr::ClientMessage;
using nostr::MessageKind;
using nostr::PackedEventView;

// NIP-42 asks for about ten minutes.
constexpr std::int64_t kAuthWindowS = 600;

constexpr Refusal kAccepted{};

std::vector<RelayUrl> parse_own_urls(const Settings& settings) {
  std::vector<RelayUrl> urls;
  for (const std::string& text : settings.urls) {
    if (auto url = parse_relay_url(text)) urls.push_back(*std::move(url));
  }
  return urls;
}

nostr::MessageLimits message_limits(const Settings& settings) {
  nostr::MessageLimits limits = settings.limits.message;
  limits.message_bytes_max = settings.limits.net.message_bytes;
  return limits;
}

using storage::ResultLimit;

// A limit that the client did not ask for ends with a whole second (nips.md 67-03).
storage::ScanLimits clamp_limits(const std::vector<nostr::Filter>& filters,
                                 const Settings& settings) {
  const Limits& limits = settings.limits;
  storage::ScanLimits out;
  std::uint64_t sum = 0;
  for (const nostr::Filter& filter : filters) {
    const std::uint64_t asked = filter.limit.value_or(limits.filter_limit_default);
    const std::uint64_t count = std::min(asked, limits.filter_limit_max);
    const bool is_own = filter.limit == count;
    out.filter_limits.emplace_back(
        count, is_own ? ResultLimit::End::kExact : ResultLimit::End::kWholeSecond);
    sum += count;
  }
  // Filters that stay below it end by themselves.
  if (sum > limits.filter_limit_max) {
    out.total_limit = {limits.filter_limit_max, ResultLimit::End::kWholeSecond};
  }
  if (settings.has_eose_hints) out.beyond = storage::ScanLimits::Beyond::kOne;
  return out;
}

// Nobody is asked where no filter can match, or wants anything stored.
nostr::EoseHint hint_without_query(const QueryRequest& request) {
  const bool matches_nothing = std::ranges::all_of(
      request.filters, [](const nostr::Filter& filter) { return filter.matches_nothing; });
  const bool has_hints = request.limits.beyond == storage::ScanLimits::Beyond::kOne;
  return matches_nothing && has_hints ? nostr::EoseHint::kFinish : nostr::EoseHint::kNone;
}

// NIP-17 and NIP-59 date seals and gift wraps up to two days back; a window must leave room for
// that.
std::int64_t past_window_s(std::uint16_t kind, const Limits& limits) {
  constexpr std::int64_t kBackdatingS = 2 * 24 * 3600;
  const bool is_backdated = kind == nostr::kKindSeal || kind == nostr::kKindGiftWrap;
  return is_backdated ? std::max(limits.created_at_past_s, kBackdatingS) : limits.created_at_past_s;
}

// "90 days", "36 hours": in the largest unit that leaves no rest.
std::string duration_text(std::uint64_t seconds) {
  constexpr std::pair<std::uint64_t, std::string_view> kUnits[] = {
      {24 * 3600, " day"}, {3600, " hour"}, {60, " minute"}, {1, " second"}};
  const auto* unit = std::ranges::find_if(
      kUnits, [seconds](const auto& candidate) { return seconds % candidate.first == 0; });
  const std::uint64_t count = seconds / unit->first;
  return std::to_string(count) + std::string(unit->second) + (count == 1 ? "" : "s");
}

std::uint64_t cost_of(const std::vector<nostr::Filter>& filters) {
  std::uint64_t cost = 0;
  for (const nostr::Filter& filter : filters) {
    cost += kFilterCost + filter.ids.size() + filter.authors.size() + filter.kinds.size();
    for (const nostr::TagCondition& tag : filter.tags) cost += tag.values.size();
  }
  return cost;
}

bool is_key_of(const Session& session, const Bytes32& pubkey) {
  return std::find(session.keys.begin(), session.keys.end(), pubkey) != session.keys.end();
}

}  // namespace

Sessions::Sessions(const Environment& environment, const Settings& settings)
    : environment_(environment),
      settings_(settings),
      parser_(message_limits(settings)),
      pages_(settings),
      own_urls_(parse_own_urls(settings)),
      live_index_(environment.hasher),
      live_sender_(environment.clock, settings.limits.gather_us),
      gatherer_(environment.outbox, *this, settings.limits.net) {}

Sessions::~Sessions() = default;

void Sessions::apply_settings() {
  parser_ = nostr::MessageParser(message_limits(settings_));
  pages_ = Pages(settings_);
  own_urls_ = parse_own_urls(settings_);
}

net::HttpResponse Sessions::on_http(const net::HttpRequest& request) {
  return pages_.answer(request);
}

void Sessions::on_open(net::Connection& connection) {
  auto* const session = new Session();
  session->connection = &connection;
  environment_.random.fill(session->challenge);
  connection.user = session;
  ++session_count_;
  // Protected events always ask for a login, so every client gets its challenge at once: it must
  // hold one before it can see an `auth-required:` (nips.md 42-01).
  scratch_.clear();
  nostr::append_auth(scratch_, to_hex(session->challenge));
  connection.send_text({scratch_});
}

void Sessions::on_closed(net::Connection& connection) {
  Session* const session = &session_of(connection);
  gatherer_.abandon_all(*session);
  for (const auto& subscription : session->subscriptions) {
    live_sender_.forget(subscription->live);
    live_index_.remove(*subscription);
  }
  delete session;
  connection.user = nullptr;
  --session_count_;
  note_interest();
}

void Sessions::on_message(net::Connection& connection, std::string_view text) {
  Session& session = session_of(connection);
  // The parser lends its result; filters are moved out of it.
  auto& message = const_cast<ClientMessage&>(parser_.parse(text));
  switch (message.kind) {
    case MessageKind::kEvent: return on_event(session, message);
    case MessageKind::kAuth: return on_auth(session, message);
    case MessageKind::kReq: return on_req(session, message, text);
    case MessageKind::kCount: return on_count_request(session, message);
    case MessageKind::kClose: return on_close_request(session, message.subscription_id);
    case MessageKind::kBadEvent: return send_ok(session, message.event_id, false, message.refusal);
    case MessageKind::kBadRequest: return on_bad_request(session, message);
    case MessageKind::kBad: return send_notice(session, message.refusal);
  }
}

void Sessions::on_binary_message(net::Connection& connection) {
  send_notice(session_of(connection), {Prefix::kInvalid, "binary messages are not understood"});
}

// A REQ with an id in use ends the old subscription, also when the new one is refused: CLOSED for
// an id means that nothing more comes under it. A COUNT leaves it alone (nips.md 45-03).
void Sessions::on_bad_request(Session& session, const ClientMessage& message) {
  if (message.request_kind == MessageKind::kReq) {
    on_close_request(session, message.subscription_id);
  }
  send_closed(session, message.subscription_id, message.refusal);
}

void Sessions::on_event(Session& session, const ClientMessage& message) {
  const PackedEventView event = message.event;
  if (const Refusal refusal = why_not_publish(session, event); refusal.prefix != Prefix::kNone) {
    return send_ok(session, event.id_hex(), false, refusal);
  }
  const ShardId owner =
      storage::owner_shard(event.pubkey(), environment_.store_key, environment_.shard_count);
  Submit submit;
  submit.connection = session.connection->id();
  submit.event = SharedBytes::copy_of(event.bytes()).detach();
  environment_.outbox.send(owner, submit);
  ++session.events_in_flight;
  session.bytes_in_flight += event.total_bytes();
  if (has_too_much_in_flight(session)) session.pause(Session::kTooManyInFlight);
  pause_if_outbox_is_full(session);
}

Refusal Sessions::why_not_publish(const Session& session, PackedEventView event) {
  if (event.kind() == nostr::kKindAuth) {
    return {Prefix::kInvalid, "kind 22242 is for AUTH messages only"};
  }
  // A request to vanish is obeyed whoever sends it (nips.md 62-07).
  const bool needs_login = settings_.is_auth_required && event.kind() != nostr::kKindVanish;
  if (needs_login && session.keys.empty()) {
    return {Prefix::kAuthRequired, "log in (NIP-42) before publishing here"};
  }
  const Limits& limits = settings_.limits;
  const std::int64_t now_s = environment_.clock.unix_s();
  const auto created_at = static_cast<std::int64_t>(event.created_at());
  if (limits.created_at_future_s > 0 && created_at > now_s + limits.created_at_future_s) {
    return {Prefix::kInvalid, "created_at lies too far in the future"};
  }
  if (limits.created_at_past_s > 0 && created_at < now_s - past_window_s(event.kind(), limits)) {
    return {Prefix::kInvalid, "created_at lies too far in the past"};
  }
  if (const Refusal refusal = why_not_kept(event, now_s); refusal.prefix != Prefix::kNone) {
    return refusal;
  }
  const bool is_repost =
      event.kind() == nostr::kKindRepost || event.kind() == nostr::kKindGenericRepost;
  if (is_repost && nostr::embeds_protected_event(event)) {
    return {Prefix::kBlocked, "a protected event (NIP-70) must not be reposted with its content"};
  }
  if (event.kind() == nostr::kKindVanish && !is_vanish_for_us(event)) {
    return {Prefix::kInvalid, "the request to vanish names other relays, not this one"};
  }
  return event.is_protected() ? why_not_protected(session, event) : kAccepted;
}

// What the next sweep would remove is better not taken. Ephemeral events are not kept anyway.
Refusal Sessions::why_not_kept(PackedEventView event, std::int64_t now_s) {
  const std::uint16_t kind = event.kind();
  if (nostr::kind_class(kind) == nostr::KindClass::kEphemeral) return kAccepted;
  const std::uint64_t age_max_s = settings_.retention.max_age_of(kind);
  if (age_max_s == 0 || static_cast<std::int64_t>(event.created_at()) >=
                            now_s - static_cast<std::int64_t>(age_max_s)) {
    return kAccepted;
  }
  refusal_text_ = "older than the " + duration_text(age_max_s) + " that events of kind " +
                  std::to_string(kind) + " are kept here";
  return {Prefix::kBlocked, refusal_text_};
}

bool Sessions::is_vanish_for_us(PackedEventView event) const {
  nostr::TagCursor tags(event);
  while (tags.next()) {
    if (tags.name() != "relay") continue;
    if (tags.value() == "ALL_RELAYS") return true;
    if (names_this_relay(nostr::unescape(tags.value()), own_urls_)) return true;
  }
  return false;
}

Refusal Sessions::why_not_protected(const Session& session, PackedEventView event) const {
  if (is_key_of(session, event.pubkey())) return kAccepted;
  if (session.keys.empty()) {
    return {Prefix::kAuthRequired, "log in (NIP-42) as its author to publish a protected event"};
  }
  return {Prefix::kRestricted, "only its author may publish a protected event"};
}

void Sessions::on_auth(Session& session, const ClientMessage& message) {
  const PackedEventView event = message.event;
  const Refusal refusal = why_not_auth(session, event);
  const bool is_accepted = refusal.prefix == Prefix::kNone;
  if (is_accepted) {
    const Bytes32 pubkey = event.pubkey();
    if (!is_key_of(session, pubkey)) session.keys.push_back(pubkey);
  }
  send_ok(session, event.id_hex(), is_accepted, refusal);
}

// Every check on its own tag: counting matches over both would let two `relay` tags stand in for a
// missing `challenge` (nips.md 42-03).
Refusal Sessions::why_not_auth(const Session& session, PackedEventView event) {
  constexpr std::size_t kKeysMax = 64;  // Of one connection; each makes every gated read dearer.
  if (event.kind() != nostr::kKindAuth) {
    return {Prefix::kInvalid, "an AUTH message carries an event of kind 22242"};
  }
  const std::int64_t now_s = environment_.clock.unix_s();
  const auto created_at = static_cast<std::int64_t>(event.created_at());
  // Compared without subtracting created_at, which may be anything up to 2^63 - 1.
  if (created_at < now_s - kAuthWindowS || created_at > now_s + kAuthWindowS) {
    return {Prefix::kInvalid, "created_at is more than ten minutes from the relay's time"};
  }
  bool has_challenge = false;
  bool has_relay = false;
  const std::string challenge = to_hex(session.challenge);
  nostr::TagCursor tags(event);
  while (tags.next()) {
    if (tags.name() == "challenge" && tags.value() == challenge) has_challenge = true;
    if (tags.name() == "relay" && names_this_relay(nostr::unescape(tags.value()), own_urls_)) {
      has_relay = true;
    }
  }
  if (!has_challenge) {
    return {Prefix::kInvalid, "no challenge tag holds this connection's challenge"};
  }
  if (!has_relay) return {Prefix::kInvalid, "no relay tag names this relay"};
  if (session.keys.size() >= kKeysMax && !is_key_of(session, event.pubkey())) {
    return {Prefix::kRateLimited, "too many keys are logged in on this connection"};
  }
  nostr::SignatureCheck check{event, false};
  environment_.verifier.verify({&check, 1});
  if (!check.is_valid) return {Prefix::kInvalid, "the signature does not verify"};
  return kAccepted;
}

Refusal Sessions::why_not_query(const Session& session,
                                const std::vector<nostr::Filter>& filters) const {
  if (!session.keys.empty()) return kAccepted;
  if (settings_.is_auth_required) {
    return {Prefix::kAuthRequired, "log in (NIP-42) before reading here"};
  }
  const bool wants_gated =
      std::any_of(filters.begin(), filters.end(), [this](const nostr::Filter& filter) {
        return wants_gated_only(filter, settings_.gated_kinds);
      });
  if (wants_gated) {
    return {Prefix::kAuthRequired, "these kinds are served to their parties only; log in (NIP-42)"};
  }
  return kAccepted;
}

void Sessions::on_req(Session& session, ClientMessage& message, std::string_view text) {
  const std::string_view id = message.subscription_id;
  Subscription* const old = session.find(id);
  if (old != nullptr && old->gather != nullptr && !old->gather->has_started()) {
    // Messages are handled in order (nips.md T-13): a query that this one replaces gets the chance
    // to answer before it is dropped, so that two small ones in one packet bring two EOSE.
    session.held_message = std::make_unique<std::string>(text);
    session.held_message->append(nostr::MessageParser::kPadding, '\0');
    return session.pause(Session::kWaitsForQuery);
  }
  Refusal refusal = why_not_query(session, message.filters);
  if (refusal.prefix == Prefix::kNone && old == nullptr &&
      session.subscriptions.size() >= settings_.limits.subscriptions) {
    refusal = {Prefix::kRateLimited, "too many subscriptions are open; close one first"};
  }
  const std::uint64_t open_cost = session.filter_cost - (old == nullptr ? 0 : old->filter_cost);
  if (refusal.prefix == Prefix::kNone &&
      open_cost + cost_of(message.filters) > settings_.limits.filter_cost) {
    refusal = {Prefix::kRateLimited, "too many filters and values are open; close some first"};
  }
  // As in on_bad_request().
  if (old != nullptr) remove_subscription(*old);
  if (refusal.prefix != Prefix::kNone) return send_closed(session, id, refusal);
  open_subscription(session, id,
                    make_request(session, std::move(message.filters), QueryRequest::Mode::kEvents));
  pause_if_outbox_is_full(session);
}

void Sessions::open_subscription(Session& session, std::string_view id,
                                 std::shared_ptr<const QueryRequest> request) {
  auto owned = std::make_unique<Subscription>();
  Subscription& subscription = *owned;
  subscription.session = &session;
  subscription.id = id;
  nostr::append_event_prefix(subscription.event_prefix, id);
  subscription.live.connection = session.connection;
  subscription.live.prefix = subscription.event_prefix;
  subscription.request = std::move(request);
  subscription.filter_cost = cost_of(subscription.request->filters);
  session.filter_cost += subscription.filter_cost;
  session.subscriptions.push_back(std::move(owned));
  // Before the query leaves, so that no event can fall between stored and live.
  live_index_.add(subscription);
  note_interest();
  const std::vector<ShardId> owners = owners_of(*subscription.request);
  if (owners.empty()) {
    on_stored_end(subscription, hint_without_query(*subscription.request));
  } else {
    gatherer_.start(session, subscription, owners);
  }
}

std::shared_ptr<const QueryRequest> Sessions::make_request(const Session& session,
                                                           std::vector<nostr::Filter> filters,
                                                           QueryRequest::Mode mode) const {
  const Limits& limits = settings_.limits;
  const bool is_count = mode == QueryRequest::Mode::kCount;
  auto request = std::make_shared<QueryRequest>();
  request->mode = mode;
  request->filters = std::move(filters);
  if (is_count) {
    request->limits.filter_limits.resize(request->filters.size());
  } else {
    request->limits = clamp_limits(request->filters, settings_);
  }
  request->access = Access(settings_.gated_kinds, session.keys);
  request->now_s = environment_.clock.unix_s();
  request->time_limit_ns = limits.query_time_ns;
  return request;
}

// The shards that may hold what a request asks for: the authors' if every filter names some, else
// all; none if no filter can give anything.
std::vector<ShardId> Sessions::owners_of(const QueryRequest& request) const {
  std::vector<bool> is_owner(environment_.shard_count, false);
  for (std::size_t i = 0; i < request.filters.size(); ++i) {
    const nostr::Filter& filter = request.filters[i];
    if (filter.matches_nothing || request.limits.filter_limits[i].count() == 0) continue;
    if (!filter.has_authors()) {
      is_owner.assign(environment_.shard_count, true);
      break;
    }
    for (const Bytes32& author : filter.authors) {
      is_owner[storage::owner_shard(author, environment_.store_key, environment_.shard_count)] =
          true;
    }
  }
  std::vector<ShardId> owners;
  for (ShardId shard = 0; shard < environment_.shard_count; ++shard) {
    if (is_owner[shard]) owners.push_back(shard);
  }
  return owners;
}

void Sessions::on_count_request(Session& session, ClientMessage& message) {
  const std::string_view id = message.subscription_id;
  if (const Refusal refusal = why_not_query(session, message.filters);
      refusal.prefix != Prefix::kNone) {
    return send_closed(session, id, refusal);
  }
  auto request = make_request(session, std::move(message.filters), QueryRequest::Mode::kCount);
  const std::vector<ShardId> owners = owners_of(*request);
  ++session.counts_in_flight;
  if (owners.empty()) return on_count(session, std::string(id), 0);
  gatherer_.start_count(session, std::move(request), std::string(id), owners);
  if (has_too_much_in_flight(session)) session.pause(Session::kTooManyInFlight);
  pause_if_outbox_is_full(session);
}

void Sessions::on_close_request(Session& session, std::string_view id) {
  if (Subscription* const subscription = session.find(id)) remove_subscription(*subscription);
}

void Sessions::remove_subscription(Subscription& subscription) {
  Session& session = *subscription.session;
  if (subscription.gather != nullptr) gatherer_.abandon(*subscription.gather);
  live_sender_.send(subscription.live);
  live_index_.remove(subscription);
  session.filter_cost -= subscription.filter_cost;
  std::erase_if(session.subscriptions,
                [&](const auto& owned) { return owned.get() == &subscription; });
  note_interest();
}

void Sessions::note_interest() {
  environment_.interest.set(environment_.self, live_index_.subscription_count() > 0);
}

// Ahead of an answer: a client that asks something and has its answer has the live events, too,
// that came before. The answer's send carries them.
void Sessions::send_live_events_of(Session& session) {
  for (const auto& subscription : session.subscriptions) live_sender_.send(subscription->live);
}

void Sessions::on_stored_end(Subscription& subscription, nostr::EoseHint hint) {
  send_live_events_of(*subscription.session);
  scratch_.clear();
  nostr::append_eose(scratch_, subscription.id, hint);
  subscription.session->connection->send_text({scratch_});
  for (const SharedBytes& event : subscription.held) {
    live_sender_.begin_event(event, PackedEventView(event.data()).json());
    live_sender_.add(subscription.live);
  }
  live_sender_.send(subscription.live);
  subscription.held = {};
  subscription.held_bytes = 0;
  close_if_all_is_answered(*subscription.session);
}

void Sessions::on_query_started(Session& session) {
  if (session.held_message == nullptr) return;
  const std::unique_ptr<std::string> held = std::move(session.held_message);
  session.resume(Session::kWaitsForQuery);
  const std::size_t text_bytes = held->size() - nostr::MessageParser::kPadding;
  on_message(*session.connection, std::string_view(held->data(), text_bytes));
}

void Sessions::on_count(Session& session, const std::string& count_id, std::uint64_t count) {
  --session.counts_in_flight;
  send_live_events_of(session);
  scratch_.clear();
  nostr::append_count(scratch_, count_id, count);
  session.connection->send_text({scratch_});
  if (!has_too_much_in_flight(session)) session.resume(Session::kTooManyInFlight);
  close_if_all_is_answered(session);
}

void Sessions::on_out_of_time(Session& session, Subscription* subscription,
                              const std::string& count_id) {
  constexpr Refusal kOutOfTime{Prefix::kError,
                               "the query took too long; narrow it by authors, kinds or time"};
  if (subscription == nullptr) {
    --session.counts_in_flight;
    send_closed(session, count_id, kOutOfTime);
    if (!has_too_much_in_flight(session)) session.resume(Session::kTooManyInFlight);
  } else {
    send_closed(session, subscription->id, kOutOfTime);
    remove_subscription(*subscription);
  }
  close_if_all_is_answered(session);
}

void Sessions::on_decision(net::Connection* connection, const Decision& decision) {
  if (connection == nullptr || !connection->is_open()) return;
  Session& session = session_of(*connection);
  GYRE_ASSERT_CMP(session.events_in_flight, >, 0u);
  --session.events_in_flight;
  session.bytes_in_flight -= decision.event_bytes;
  const Refusal refusal{decision.prefix, {decision.text, decision.text_bytes}};
  char id_hex[64];
  hex_encode(decision.id.bytes, id_hex);
  send_ok(session, {id_hex, sizeof id_hex}, decision.is_accepted != 0, refusal);
  if (!has_too_much_in_flight(session)) session.resume(Session::kTooManyInFlight);
  close_if_all_is_answered(session);
}

void Sessions::on_publish(ShardId from, const Publish& publish) {
  const SharedBytes event = SharedBytes::adopt(publish.event);
  const PackedEventView view(event.data());
  live_sender_.begin_event(event, view.json());
  live_index_.for_each_match(view, [&](Subscription& subscription) {
    deliver(from, subscription, event, publish.is_ephemeral != 0);
  });
}

void Sessions::deliver(ShardId from, Subscription& subscription, const SharedBytes& event,
                       bool is_ephemeral) {
  const PackedEventView view(event.data());
  const Session& session = *subscription.session;
  if (is_gated(view.kind(), settings_.gated_kinds) && !is_party(view, session.keys)) return;
  if (subscription.gather == nullptr) return live_sender_.add(subscription.live);
  // What the owner published before its first batch is part of the stored answer; ephemeral events
  // never are.
  if (is_ephemeral || Gatherer::is_live(*subscription.gather, from)) hold(subscription, event);
}

void Sessions::hold(Subscription& subscription, const SharedBytes& event) {
  subscription.held.push_back(event);
  subscription.held_bytes += event.size();
  if (subscription.held_bytes <= settings_.limits.net.send_queue_bytes) return;
  // Dropping live events would be a silent loss, so the connection that cannot keep up is ended; it
  // is done from the pool's next flush, not under the live index's feet.
  subscription.session->connection->drop();
}

bool Sessions::on_peer_close(net::Connection& connection) {
  Session& session = session_of(connection);
  session.waits_to_close = has_answers_due(session);
  return !session.waits_to_close;
}

bool Sessions::has_answers_due(const Session& session) {
  return session.events_in_flight > 0 || session.counts_in_flight > 0 ||
         std::any_of(session.subscriptions.begin(), session.subscriptions.end(),
                     [](const auto& subscription) { return subscription->gather != nullptr; });
}

// A client that sends its last messages and its Close in one go still gets their answers.
void Sessions::close_if_all_is_answered(Session& session) {
  if (session.waits_to_close && !has_answers_due(session)) session.connection->finish_close();
}

void Sessions::on_drained(net::Connection& connection) {
  gatherer_.on_drained(session_of(connection));
}

bool Sessions::has_too_much_in_flight(const Session& session) const {
  return session.events_in_flight >= settings_.limits.events_in_flight ||
         session.counts_in_flight >= settings_.limits.counts_in_flight ||
         session.bytes_in_flight >= settings_.limits.in_flight_bytes;
}

void Sessions::pause_if_outbox_is_full(Session& session) {
  if (environment_.outbox.is_empty()) return;
  session.pause(Session::kOutboxFull);
  outbox_waiters_.push_back(session.connection->id());
}

bool Sessions::resume_if_outbox_is_empty() {
  if (outbox_waiters_.empty() || !environment_.outbox.is_empty()) return false;
  for (const ConnectionId id : std::exchange(outbox_waiters_, {})) {
    net::Connection* const connection = pool_->find(id);
    if (connection != nullptr && connection->is_open()) {
      session_of(*connection).resume(Session::kOutboxFull);
    }
  }
  return true;
}

void Sessions::send_ok(Session& session, std::string_view id_escaped, bool is_accepted,
                       Refusal refusal) {
  scratch_.clear();
  nostr::append_ok(scratch_, id_escaped, is_accepted, refusal);
  session.connection->send_text({scratch_});
}

void Sessions::send_closed(Session& session, std::string_view id_escaped, Refusal refusal) {
  scratch_.clear();
  nostr::append_closed(scratch_, id_escaped, refusal);
  session.connection->send_text({scratch_});
}

void Sessions::send_notice(Session& session, Refusal refusal) {
  scratch_.clear();
  nostr::append_notice(scratch_, refusal);
  session.connection->send_text({scratch_});
}

}  // namespace gyre::relay

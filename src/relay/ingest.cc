#include "relay/ingest.h"

#include <utility>

#include "gyre/base/assert.h"
#include "gyre/nostr/kind.h"

namespace gyre::relay {
namespace {

using nostr::PackedEventView;
using storage::Verdict;

// Signatures verified in one turn: about half a millisecond, the longest step of a busy turn, so
// that queries and live events do not wait longer behind a flood.
constexpr std::size_t kVerifyBatch = 16;

Refusal refusal_for(Verdict verdict) {
  switch (verdict) {
    case Verdict::kAccept: return {};
    case Verdict::kDuplicate: return {Prefix::kDuplicate, "this event is stored already"};
    case Verdict::kStale: return {Prefix::kDuplicate, "a newer version of this event is stored"};
    case Verdict::kDeleted: return {Prefix::kBlocked, "this event was deleted by its author"};
    case Verdict::kVanished: return {Prefix::kBlocked, "its author asked to vanish"};
    case Verdict::kExpired: return {Prefix::kInvalid, "the event's expiration has passed"};
    case Verdict::kDiskFull:
      return {Prefix::kError, "the relay's disk is full; reading goes on, try again later"};
    case Verdict::kTooLarge:
      return {Prefix::kInvalid, "the event is larger than this relay can store"};
    case Verdict::kReading:
    case Verdict::kBusy: break;  // Never answered: the event waits.
  }
  GYRE_ASSERT(!"a verdict without an answer");
  return {};
}

Decision make_decision(ConnectionId connection, PackedEventView event, bool is_accepted,
                       Refusal refusal) {
  Decision decision;
  decision.connection = connection;
  decision.id = event.id();
  decision.is_accepted = is_accepted ? 1 : 0;
  decision.prefix = refusal.prefix;
  decision.text_bytes = static_cast<std::uint16_t>(refusal.text.size());
  decision.text = refusal.text.data();
  decision.event_bytes = event.total_bytes();
  return decision;
}

bool is_ephemeral(PackedEventView event) {
  return nostr::kind_class(event.kind()) == nostr::KindClass::kEphemeral;
}

// A vanish request is broadcast only if it is meant for every relay (nips.md 62-08).
bool is_for_subscribers(PackedEventView event) {
  if (event.kind() != nostr::kKindVanish) return true;
  nostr::TagCursor tags(event);
  while (tags.next()) {
    if (tags.name() == "relay" && tags.value() == "ALL_RELAYS") return true;
  }
  return false;
}

}  // namespace

void Ingest::on_submit(ShardId from, const Submit& submit) {
  Waiting item{from, submit.connection, SharedBytes::adopt(submit.event)};
  const PackedEventView event(item.event.data());
  const Verdict verdict = store_.check(event);
  const bool may_come_in = verdict == Verdict::kAccept || verdict == Verdict::kReading;
  if (!may_come_in) return answer(item, verdict);
  waiting_.push_back(std::move(item));
}

bool Ingest::work() {
  is_waiting_for_log_ = false;
  // Those that must wait do not keep events waiting: on a full disk these are refused.
  apply_foreign_requests();
  Progress progress = store_verified();
  if (progress == Progress::kDone && !waiting_.empty()) {
    verify_batch();
    progress = store_verified();
  }
  switch (progress) {
    case Progress::kDone: return !waiting_.empty();
    case Progress::kNoMeshRoom: return true;  // Nobody tells when a ring has room again.
    case Progress::kNoLogRoom: is_waiting_for_log_ = true; break;
    case Progress::kReading: break;  // The end of the read brings the next turn.
  }
  return false;
}

void Ingest::verify_batch() {
  checks_.clear();
  const std::size_t count = std::min(kVerifyBatch, waiting_.size());
  for (std::size_t i = 0; i < count; ++i) {
    checks_.push_back({PackedEventView(waiting_[i].event.data()), false});
  }
  verifier_.verify(checks_);
  for (const nostr::SignatureCheck& check : checks_) {
    Waiting item = std::move(waiting_.front());
    waiting_.pop_front();
    if (check.is_valid) {
      verified_.push_back(std::move(item));
      continue;
    }
    ++counters_.bad_signatures;
    refuse(item, {Prefix::kInvalid, "the signature does not verify"});
  }
}

Ingest::Progress Ingest::store_verified() {
  while (!verified_.empty()) {
    // One published event and one verdict.
    if (!port_.has_reply_room_everywhere(2)) return Progress::kNoMeshRoom;
    const Progress progress = store_one(verified_.front());
    if (progress != Progress::kDone) return progress;
    verified_.pop_front();
  }
  return Progress::kDone;
}

Ingest::Progress Ingest::store_one(const Waiting& item) {
  const PackedEventView event(item.event.data());
  if (is_ephemeral(event)) {
    publish(item.event);
    ++counters_.accepted;
    const auto decision = make_decision(item.connection, event, true, {});
    GYRE_ASSERT(port_.try_send_reply(item.from, to_slot(decision)));
    return Progress::kDone;
  }
  const storage::Store::PutResult result = store_.put(event);
  if (result.verdict == Verdict::kBusy) return Progress::kNoLogRoom;
  // Those behind it wait too, so that events of one author are decided in their order.
  if (result.verdict == Verdict::kReading) return Progress::kReading;
  if (result.verdict != Verdict::kAccept) {
    answer(item, result.verdict);
    return Progress::kDone;
  }
  ++counters_.accepted;
  if (is_for_subscribers(event)) publish(item.event);
  const auto reply = to_slot(make_decision(item.connection, event, true, {}));
  if (storage::Store::has_foreign_effects(event)) {
    spread(item, reply);
  } else {
    acknowledge_later(item.from, reply);
  }
  return Progress::kDone;
}

void Ingest::answer(const Waiting& item, Verdict verdict) {
  const Refusal refusal = refusal_for(verdict);
  const PackedEventView event(item.event.data());
  if (verdict != Verdict::kDuplicate) return refuse(item, refusal);
  // A duplicate is answered with OK true, so it has to be as safe as the event itself; and a
  // request whose effects on other shards were cut short by a crash takes effect now.
  ++counters_.duplicates;
  const auto reply = to_slot(make_decision(item.connection, event, true, refusal));
  if (storage::Store::has_foreign_effects(event)) {
    spread(item, reply);
  } else {
    acknowledge_later(item.from, reply);
  }
}

void Ingest::refuse(const Waiting& item, Refusal refusal) {
  ++counters_.refused;
  const PackedEventView event(item.event.data());
  const auto decision = make_decision(item.connection, event, false, refusal);
  // Refusals go through the queue as well: the caller has not reserved room for every one of a
  // batch.
  acknowledgements_.push_back({storage::LogPosition{}, item.from, to_slot(decision)});
  if (acknowledgements_.size() > 1) {
    acknowledgements_.back().position = acknowledgements_[acknowledgements_.size() - 2].position;
  }
}

void Ingest::acknowledge_later(ShardId to, const runtime::MeshSlot& reply) {
  const storage::LogPosition position = store_.appended();
  acknowledgements_.push_back({position, to, reply});
}

bool Ingest::acknowledge() {
  const storage::LogPosition safe = store_.acknowledged();
  while (!acknowledgements_.empty() && acknowledgements_.front().position <= safe) {
    const Acknowledgement& next = acknowledgements_.front();
    if (!port_.try_send_reply(next.to, next.reply)) return true;
    acknowledgements_.pop_front();
  }
  return false;
}

void Ingest::publish(const SharedBytes& event) {
  const bool ephemeral = is_ephemeral(PackedEventView(event.data()));
  for (ShardId shard = 0; shard < port_.shard_count(); ++shard) {
    if (!interest_.has_subscriptions(shard)) continue;
    Publish message;
    message.is_ephemeral = ephemeral ? 1 : 0;
    message.event = SharedBytes(event).detach();
    GYRE_ASSERT(port_.try_send_reply(shard, to_slot(message)));
  }
}

// Lets every other shard apply a request; the author is answered when all of them are safe too.
void Ingest::spread(const Waiting& item, const runtime::MeshSlot& reply) {
  const std::uint32_t others = port_.shard_count() - 1;
  if (others == 0) return acknowledge_later(item.from, reply);
  const std::uint32_t ticket = next_ticket_++;
  foreign_waits_[ticket] = {others, item.from, reply};
  for (ShardId shard = 0; shard < port_.shard_count(); ++shard) {
    if (shard == port_.self()) continue;
    ForeignRequest message;
    message.ticket = ticket;
    message.event = SharedBytes(item.event).detach();
    outbox_.send(shard, message);
  }
}

void Ingest::on_foreign_request(ShardId from, const ForeignRequest& request) {
  foreign_.push_back({from, {request.ticket, 0}, SharedBytes::adopt(request.event)});
}

void Ingest::apply_foreign_requests() {
  while (!foreign_.empty()) {
    const Waiting& item = foreign_.front();
    const auto result = store_.apply_foreign_request(PackedEventView(item.event.data()));
    is_waiting_for_log_ = is_waiting_for_log_ || result.verdict == Verdict::kBusy;
    // A full disk makes the request wait too: its author must not hear OK before it is remembered.
    if (result.verdict != Verdict::kAccept) return;
    ForeignDone done;
    done.ticket = item.connection.slot;
    acknowledge_later(item.from, to_slot(done));
    foreign_.pop_front();
  }
}

void Ingest::on_foreign_done(const ForeignDone& done) {
  const auto found = foreign_waits_.find(done.ticket);
  GYRE_ASSERT(found != foreign_waits_.end());
  if (--found->second.shards_left > 0) return;
  acknowledge_later(found->second.to, found->second.reply);
  foreign_waits_.erase(found);
}

}  // namespace gyre::relay

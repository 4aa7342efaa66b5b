#include "gyre/relay/relay_shard.h"

#include <algorithm>
#include <cinttypes>
#include <utility>

#include "gyre/base/assert.h"
#include "gyre/base/log.h"
#include "gyre/nostr/verify.h"
#include "relay/gatherer.h"
#include "relay/ingest.h"
#include "relay/interest.h"
#include "relay/outbox.h"
#include "relay/query_runner.h"
#include "relay/ring_file_reader.h"
#include "relay/sessions.h"

namespace gyre::relay {
namespace {

// Parsed keys kept: 1.5 MiB. Active authors of a large relay number in the thousands.
constexpr std::uint32_t kKeyCacheSlots = 16'384;
// Expired events made dead in one turn.
constexpr std::size_t kSweepBudget = 256;
// Connections that have not answered our Close by then are dropped.
constexpr std::uint64_t kDrainTimeoutNs = 8'000'000'000;
// The store's own clockwork (syncs of "interval", retries on a full disk) moves with the turns, and
// an idle shard has none.
constexpr std::uint64_t kStoreTickNs = 1'000'000'000;

}  // namespace

RelayCommon::RelayCommon(std::uint32_t shard_count)
    : interest_(std::make_unique<Interest>(shard_count)) {}
RelayCommon::~RelayCommon() = default;

struct RelayShard::Parts {
  Parts(const Environment& environment, const Settings& settings)
      : store(environment.store),
        reader(environment.io),
        verifier(nostr::make_signature_verifier(kKeyCacheSlots)),
        outbox(environment.port),
        ingest(environment.port, outbox, environment.store, *verifier,
               environment.common.interest()),
        queries(environment.port, environment.store, environment.clock),
        sessions({environment.port.self(), environment.port.shard_count(), environment.store_key,
                  environment.clock, environment.random, outbox, *verifier,
                  environment.common.interest(), environment.store.hasher()},
                 settings),
        pool(environment.io, environment.timers, environment.clock, settings.limits.net,
             environment.common.admission(), sessions) {
    sessions.set_pool(pool);
    store.cold_reads().read_by(&reader);
  }
  // Connections that are left say that they are closed, so that their sessions end.
  ~Parts() {
    pool.drop_all();
    pool.flush();
    store.cold_reads().read_by(nullptr);
  }
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  storage::Store& store;
  RingFileReader reader;
  std::unique_ptr<nostr::SignatureVerifier> verifier;
  Outbox outbox;
  Ingest ingest;
  QueryRunner queries;
  Sessions sessions;
  net::ConnectionPool pool;
};

RelayShard::RelayShard(const Environment& environment, const Settings& settings)
    : environment_(environment),
      settings_(std::make_unique<Settings>(settings)),
      parts_(std::make_unique<Parts>(environment_, *settings_)),
      sweep_timer_(runtime::bind_timer<&RelayShard::on_sweep_timer>(*this)),
      store_timer_(runtime::bind_timer<&RelayShard::on_store_timer>(*this)),
      drain_timer_(runtime::bind_timer<&RelayShard::on_drain_timer>(*this)) {
  on_sweep_timer();
  on_store_timer();
}

RelayShard::~RelayShard() {
  environment_.timers.cancel(sweep_timer_);
  environment_.timers.cancel(store_timer_);
  environment_.timers.cancel(drain_timer_);
}

void RelayShard::start_listening(int listener) { parts_->pool.start_listening(listener); }

void RelayShard::on_reply(ShardId from, const runtime::MeshSlot& slot) {
  switch (type_of(slot)) {
    case MessageType::kDecision: {
      const auto decision = from_slot<Decision>(slot);
      return parts_->sessions.on_decision(parts_->pool.find(decision.connection), decision);
    }
    case MessageType::kPublish: return parts_->sessions.on_publish(from, from_slot<Publish>(slot));
    case MessageType::kBatch: return parts_->sessions.on_batch(from, from_slot<Batch>(slot));
    case MessageType::kForeignDone:
      return parts_->ingest.on_foreign_done(from_slot<ForeignDone>(slot));
    case MessageType::kSubmit:
    case MessageType::kForeignRequest:
    case MessageType::kQuery:
    case MessageType::kMore:
    case MessageType::kCancel: break;
  }
  GYRE_ASSERT(!"a request among the replies");
}

bool RelayShard::can_take_request() {
  return parts_->ingest.has_room(settings_->limits.verify_queue) &&
         environment_.port.has_reply_room_everywhere(QueryRunner::kRepliesMax);
}

void RelayShard::on_request(ShardId from, const runtime::MeshSlot& slot) {
  switch (type_of(slot)) {
    case MessageType::kSubmit: return parts_->ingest.on_submit(from, from_slot<Submit>(slot));
    case MessageType::kForeignRequest:
      return parts_->ingest.on_foreign_request(from, from_slot<ForeignRequest>(slot));
    case MessageType::kQuery: return parts_->queries.on_query(from, from_slot<Query>(slot));
    case MessageType::kMore: return parts_->queries.on_more(from, from_slot<More>(slot));
    case MessageType::kCancel: return parts_->queries.on_cancel(from, from_slot<Cancel>(slot));
    case MessageType::kDecision:
    case MessageType::kForeignDone:
    case MessageType::kPublish:
    case MessageType::kBatch: break;
  }
  GYRE_ASSERT(!"a reply among the requests");
}

bool RelayShard::work() {
  take_control_messages();
  parts_->outbox.flush();
  parts_->sessions.resume_if_outbox_is_empty();
  bool has_more = parts_->pool.work();
  has_more |= parts_->ingest.work();
  has_more |= parts_->queries.work();
  has_more |= parts_->sessions.send_live_events();
  if (is_sweep_due_) {
    is_sweep_due_ = environment_.store.sweep_expired(kSweepBudget);
    has_more |= is_sweep_due_;
  }
  if (is_retention_due_) {
    is_retention_due_ = environment_.store.apply_retention(settings_->retention, kSweepBudget);
    has_more |= is_retention_due_;
  }
  // More records follow in the next turns while signatures wait, unless the log has no room for
  // them.
  const bool has_more_records =
      parts_->ingest.is_verifying() && !parts_->ingest.is_waiting_for_log();
  environment_.store.work(has_more_records ? storage::Store::CommitPace::kMayWait
                                           : storage::Store::CommitPace::kNow);
  // While the store works, its progress brings the next turn.
  has_more |= parts_->ingest.is_waiting_for_log() && !environment_.store.is_working();
  has_more |= parts_->ingest.acknowledge();
  // Nobody tells when a ring has room again; and who may read again has kept input for a turn.
  has_more |= !parts_->outbox.flush();
  has_more |= parts_->sessions.resume_if_outbox_is_empty();
  if (is_draining_ && has_drained()) is_drained_.store(true, std::memory_order_release);
  return has_more;
}

// Other shards read the requests of queries until these have ended, so a shard with queries must
// not end before.
bool RelayShard::has_drained() const {
  return parts_->pool.is_empty() && parts_->outbox.is_empty() && parts_->sessions.has_no_queries();
}

void RelayShard::flush_connections() { parts_->pool.flush(); }

std::uint64_t RelayShard::next_due_ns() const { return parts_->sessions.next_live_ns(); }

void RelayShard::take_control_messages() {
  // Looked at before it is taken: an exchange in every turn would cost more than the look.
  if (is_report_wanted_.load(std::memory_order_relaxed) &&
      is_report_wanted_.exchange(false, std::memory_order_relaxed)) {
    report();
  }
  ControlMessage message;
  while (control_.try_pop(message)) {
    switch (message.type) {
      case ControlMessage::Type::kReload: {
        const std::unique_ptr<const Settings> settings(message.settings);
        *settings_ = *settings;
        parts_->sessions.apply_settings();
        break;
      }
      case ControlMessage::Type::kDrain: drain(); break;
      case ControlMessage::Type::kStop:
        report();
        is_stopped_ = true;
        break;
    }
  }
}

// The kernel writes into the buffers of reads that are under way, until they end.
bool RelayShard::is_finished() const {
  return is_stopped_ && environment_.store.cold_reads().in_flight() == 0;
}

void RelayShard::drain() {
  is_draining_ = true;
  parts_->pool.stop_listening();
  parts_->sessions.send_all_live_events();
  parts_->pool.close_all(net::CloseCode::kGoingAway, "the relay shuts down");
  environment_.timers.set(drain_timer_, environment_.clock.monotonic_ns() + kDrainTimeoutNs);
}

void RelayShard::on_drain_timer() { parts_->pool.drop_all(); }

void RelayShard::on_sweep_timer() {
  is_sweep_due_ = true;
  is_retention_due_ = !settings_->retention.is_empty();
  const std::uint64_t interval_ns = std::uint64_t{settings_->expiry_sweep_s} * 1'000'000'000;
  environment_.timers.set(sweep_timer_, environment_.clock.monotonic_ns() + interval_ns);
}

void RelayShard::on_store_timer() {
  environment_.timers.set(store_timer_, environment_.clock.monotonic_ns() + kStoreTickNs);
}

void RelayShard::on_turn_end(std::uint64_t turn_ns) {
  longest_turn_ns_ = std::max(longest_turn_ns_, turn_ns);
}

void RelayShard::report() {
  const storage::StoreStatistics statistics = environment_.store.statistics();
  GYRE_LOG(kInfo,
           "shard %u: longest turn %.1f ms since the last look; %" PRIu64
           " records read from the disk, %" PRIu64 " reads failed, %" PRIu64
           " records damaged; %" PRIu64 " files of the log compacted since the start, %" PRIu64
           " MiB given back",
           static_cast<unsigned>(environment_.port.self()),
           static_cast<double>(std::exchange(longest_turn_ns_, 0)) / 1e6, statistics.cold_reads,
           statistics.failed_reads, statistics.damaged_records, statistics.compactions,
           statistics.compacted_bytes / kMiB);
}

const net::ConnectionCounters& RelayShard::connection_counters() const {
  return parts_->pool.counters();
}

std::size_t RelayShard::running_query_count() const { return parts_->queries.running_count(); }

}  // namespace gyre::relay

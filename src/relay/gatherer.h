// Gatherer: the asker's side of stored queries. Scatters a request to the owners, merges their
// sorted batches into one stream, newest first, and sends it at the pace of the connection.
//
// The seam to live events is exact. A subscription is in the live index before its query is sent,
// and an owner's first batch and the events it publishes travel on one FIFO ring: what an owner
// published before its first batch is in its stored part, what it publishes after is live.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gyre/net/limits.h"
#include "gyre/nostr/relay_message.h"
#include "gyre/relay/messages.h"
#include "relay/outbox.h"
#include "relay/query_request.h"
#include "relay/result_batch.h"
#include "relay/session.h"

namespace gyre::relay {

// One query under way. Lives until every owner has sent its last batch, also after its subscription
// or connection has gone: owners read the request until then.
struct Gather {
  // Batches that an owner may send ahead of what the connection has taken.
  static constexpr std::size_t kBatchesAhead = 2;
  // Queries of one session that are under way at a time; the others wait their turn. Together with
  // the batches ahead this bounds what a connection that reads nothing can make the relay hold.
  static constexpr std::uint32_t kRunningMax = 4;

  struct Lane {
    ShardId owner = 0;
    bool has_started = false;
    bool is_last = false;
    std::uint8_t batch_count = 0;
    std::array<ResultBatchReader, kBatchesAhead> batches;
  };

  QueryId id = 0;
  std::shared_ptr<const QueryRequest> request;
  Session* session = nullptr;            // Null once nobody waits for the answer.
  Subscription* subscription = nullptr;  // Null for COUNT.
  std::string count_id;                  // COUNT's query id, canonically escaped.
  std::vector<Lane> lanes;
  storage::ScanLimits limits;  // The request's, with what has been sent taken off.
  bool is_cut = false;         // A limit was in the way of some event...
  bool has_more = false;       // ...and that event was not sent for another filter either.
  std::uint64_t count = 0;     // Of COUNT.
  bool is_out_of_time = false;
  bool waits_for_drain = false;
  bool is_scattered = false;  // The owners have been asked.

  [[nodiscard]] Lane* find_lane(ShardId owner);  // Null if that shard was not asked.
  [[nodiscard]] bool is_ended() const;
  [[nodiscard]] bool has_started() const;  // Every owner has sent its first batch.
};

// What the gatherer tells about a query's end.
class GatherListener {
 public:
  virtual ~GatherListener() = default;
  // The stored part is complete; subscription->gather is null already.
  virtual void on_stored_end(Subscription& subscription, nostr::EoseHint hint) = 0;
  // Every owner of one of the session's queries has begun to answer.
  virtual void on_query_started(Session& session) = 0;
  virtual void on_count(Session& session, const std::string& count_id, std::uint64_t count) = 0;
  // The time limit ended it. `subscription` is null for COUNT.
  virtual void on_out_of_time(Session& session, Subscription* subscription,
                              const std::string& count_id) = 0;
};

class Gatherer {
 public:
  // All arguments outlive the gatherer. `limits` may change between turns (reload).
  Gatherer(Outbox& outbox, GatherListener& listener, const net::NetLimits& limits)
      : outbox_(outbox), listener_(listener), limits_(limits) {}

  // Starts the stored part of a subscription, or a COUNT. `owners` is not empty.
  void start(Session& session, Subscription& subscription, std::span<const ShardId> owners);
  void start_count(Session& session, std::shared_ptr<const QueryRequest> request,
                   std::string count_id, std::span<const ShardId> owners);

  void on_batch(ShardId from, const Batch& batch);
  // The connection can take more.
  void on_drained(Session& session);
  // Nobody waits any more: the subscription was closed or replaced.
  void abandon(Gather& gather);
  // The connection has gone.
  void abandon_all(Session& session);

  // True if an event that `owner` publishes now belongs to the live part. A shard that was not
  // asked has no stored part.
  [[nodiscard]] static bool is_live(Gather& gather, ShardId owner) {
    const Gather::Lane* const lane = gather.find_lane(owner);
    return lane == nullptr || lane->has_started;
  }
  [[nodiscard]] std::size_t running_count() const { return gathers_.size() - free_.size(); }

 private:
  Gather& make(Session& session, std::shared_ptr<const QueryRequest> request,
               std::span<const ShardId> owners);
  void begin(Gather& gather);
  void scatter(Gather& gather);
  void detach(Gather& gather);
  void pump(Gather& gather);
  [[nodiscard]] bool has_taken_enough(const net::Connection& connection) const;
  void pump_count(Gather& gather);
  [[nodiscard]] bool send_next(Gather& gather);
  [[nodiscard]] static bool admit(Gather& gather, nostr::PackedEventView event);
  [[nodiscard]] static bool admits_no_more(const Gather& gather);
  [[nodiscard]] static nostr::EoseHint hint_of(const Gather& gather);
  void pop(Gather& gather, Gather::Lane& lane);
  void finish(Gather& gather);
  void release_if_ended(Gather& gather);

  Outbox& outbox_;
  GatherListener& listener_;
  const net::NetLimits& limits_;
  std::vector<std::unique_ptr<Gather>> gathers_;  // By QueryId; null: free.
  std::vector<QueryId> free_;
};

}  // namespace gyre::relay

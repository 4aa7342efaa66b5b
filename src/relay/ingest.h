// Ingest: the owner's side of an EVENT: decide, verify, store, publish, acknowledge.
//
// What can be said without the signature is said at once (duplicates cost no verification). The
// rest waits for the batch of the turn. An accepted event is published when it is stored and
// acknowledged when its record is as durable as the store promises.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "gyre/nostr/verify.h"
#include "gyre/relay/messages.h"
#include "gyre/runtime/mesh.h"
#include "gyre/storage/store.h"
#include "relay/interest.h"
#include "relay/outbox.h"

namespace gyre::relay {

struct IngestCounters {
  std::uint64_t accepted = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t refused = 0;
  std::uint64_t bad_signatures = 0;
};

class Ingest {
 public:
  Ingest(runtime::MeshPort& port, Outbox& outbox, storage::Store& store,
         nostr::SignatureVerifier& verifier, const Interest& interest)
      : port_(port), outbox_(outbox), store_(store), verifier_(verifier), interest_(interest) {}

  // False while as many events wait as the limit allows. Foreign requests do not count: they may
  // wait for a full disk, which must not keep queries waiting. Each belongs to an unanswered event
  // of some connection, and of those a connection has only so many.
  [[nodiscard]] bool has_room(std::uint32_t queue_max) const {
    return waiting_.size() + verified_.size() < queue_max;
  }

  void on_submit(ShardId from, const Submit& submit);
  void on_foreign_request(ShardId from, const ForeignRequest& request);
  void on_foreign_done(const ForeignDone& done);

  // Events wait for their signature.
  [[nodiscard]] bool is_verifying() const { return !waiting_.empty(); }
  // Verifies and stores one batch. True if events still wait and another turn can help.
  bool work();
  // After work(): something waits for room in the log, which its writer will bring about.
  [[nodiscard]] bool is_waiting_for_log() const { return is_waiting_for_log_; }
  // Sends the acknowledgements whose records are safe. True if some wait for room in the mesh.
  bool acknowledge();

  [[nodiscard]] const IngestCounters& counters() const { return counters_; }

 private:
  struct Waiting {
    ShardId from = 0;
    ConnectionId connection;
    SharedBytes event;
  };
  // A reply that leaves when the log is safe up to `position`.
  struct Acknowledgement {
    storage::LogPosition position;
    ShardId to = 0;
    runtime::MeshSlot reply;
  };
  // An acknowledgement that also waits for other shards.
  struct ForeignWait {
    std::uint32_t shards_left = 0;
    ShardId to = 0;
    runtime::MeshSlot reply;
  };
  enum class Progress : std::uint8_t { kDone, kNoMeshRoom, kNoLogRoom, kReading };

  void verify_batch();
  [[nodiscard]] Progress store_verified();
  [[nodiscard]] Progress store_one(const Waiting& item);
  void apply_foreign_requests();
  void answer(const Waiting& item, storage::Verdict verdict);
  void refuse(const Waiting& item, Refusal refusal);
  void acknowledge_later(ShardId to, const runtime::MeshSlot& reply);
  void spread(const Waiting& item, const runtime::MeshSlot& reply);
  void publish(const SharedBytes& event);

  runtime::MeshPort& port_;
  Outbox& outbox_;
  storage::Store& store_;
  nostr::SignatureVerifier& verifier_;
  const Interest& interest_;

  std::deque<Waiting> waiting_;   // For their signature.
  std::deque<Waiting> verified_;  // For room in the log, or for a record to be read.
  std::deque<Waiting>
      foreign_;  // Foreign requests, for room in the log; connection.slot: the ticket.
  std::deque<Acknowledgement> acknowledgements_;                   // Positions ascend.
  absl::flat_hash_map<std::uint32_t, ForeignWait> foreign_waits_;  // By ticket.
  std::uint32_t next_ticket_ = 1;
  bool is_waiting_for_log_ = false;
  std::vector<nostr::SignatureCheck> checks_;  // Scratch.
  IngestCounters counters_;
};

}  // namespace gyre::relay

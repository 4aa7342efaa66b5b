// Session: the protocol state of one open connection; Subscription: one REQ of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/bytes.h"
#include "gyre/base/shared_bytes.h"
#include "gyre/net/connection.h"
#include "gyre/storage/term.h"
#include "relay/live_sender.h"
#include "relay/query_request.h"

namespace gyre::relay {

struct Session;
struct Gather;

struct Subscription {
  // Where this subscription stands in the live index.
  struct Posting {
    storage::Term term;
    std::uint32_t position;  // In the term's list.
  };

  Session* session = nullptr;
  std::string id;            // Canonically escaped.
  std::string event_prefix;  // ["EVENT","<id>",
  // Shared with the query that serves the stored part, which may outlive the subscription.
  std::shared_ptr<const QueryRequest> request;
  std::vector<Posting> postings;
  LiveStream live;
  std::uint64_t filter_cost = 0;
  std::uint64_t last_event_number = 0;  // Of the last event looked at, so that each comes once.

  // While the stored part is being sent (gather is set), live events wait here for EOSE.
  Gather* gather = nullptr;
  std::vector<SharedBytes> held;
  std::uint64_t held_bytes = 0;
};

struct Session {
  // Why reading is paused; the connection reads while none is set.
  enum PauseReason : std::uint8_t { kTooManyInFlight = 1, kOutboxFull = 2, kWaitsForQuery = 4 };

  net::Connection* connection = nullptr;
  std::array<std::uint8_t, 16>
      challenge{};            // 128 random bits, sent as hex; for the connection's life.
  std::vector<Bytes32> keys;  // Logged in, in order (NIP-42: they add up).
  std::vector<std::unique_ptr<Subscription>> subscriptions;
  std::uint32_t events_in_flight = 0;
  std::uint64_t bytes_in_flight = 0;
  std::uint32_t counts_in_flight = 0;
  std::uint32_t queries_running = 0;           // Sent to their owners and not ended (Gatherer).
  std::vector<std::uint32_t> queries_waiting;  // Their ids, oldest first.
  std::uint64_t filter_cost = 0;               // Of all open subscriptions (Sessions).
  std::uint8_t pause_reasons = 0;
  bool waits_to_close = false;  // The peer's Close has come while answers were due.
  // kWaitsForQuery: a message that waits for a query to have begun (Sessions::on_req), with
  // padding.
  std::unique_ptr<std::string> held_message;

  void pause(PauseReason reason) {
    pause_reasons |= reason;
    connection->pause_reading();
  }
  void resume(PauseReason reason) {
    if ((pause_reasons & reason) == 0) return;
    pause_reasons = static_cast<std::uint8_t>(pause_reasons & ~reason);
    if (pause_reasons == 0) connection->resume_reading();
  }
  [[nodiscard]] Subscription* find(std::string_view id) const {
    for (const auto& subscription : subscriptions) {
      if (subscription->id == id) return subscription.get();
    }
    return nullptr;
  }
};

[[nodiscard]] inline Session& session_of(net::Connection& connection) {
  return *static_cast<Session*>(connection.user);
}

}  // namespace gyre::relay

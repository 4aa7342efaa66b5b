// Sessions: the asker's side of the protocol. Takes the messages of a shard's connections, answers
// what can be answered here, and sends the rest to the owners: events to their author's shard,
// queries to all that may hold matches.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "gyre/base/clock.h"
#include "gyre/base/random.h"
#include "gyre/net/connection.h"
#include "gyre/nostr/client_message.h"
#include "gyre/nostr/verify.h"
#include "gyre/relay/messages.h"
#include "gyre/relay/relay_url.h"
#include "gyre/relay/settings.h"
#include "relay/gatherer.h"
#include "relay/interest.h"
#include "relay/live_index.h"
#include "relay/live_sender.h"
#include "relay/outbox.h"
#include "relay/pages.h"
#include "relay/session.h"

namespace gyre::relay {

class Sessions final : public net::ConnectionHandler, public GatherListener {
 public:
  struct Environment {
    ShardId self;
    std::uint32_t shard_count;
    std::array<std::uint8_t, 16> store_key;  // Decides which shard owns an author.
    const Clock& clock;
    Random& random;
    Outbox& outbox;
    nostr::SignatureVerifier& verifier;
    Interest& interest;
    const storage::TermHasher& hasher;
  };

  // `settings` outlives the sessions; apply_settings() must follow every change of it.
  Sessions(const Environment& environment, const Settings& settings);
  ~Sessions() override;
  void apply_settings();

  // net::ConnectionHandler
  [[nodiscard]] net::HttpResponse on_http(const net::HttpRequest& request) override;
  void on_open(net::Connection& connection) override;
  void on_message(net::Connection& connection, std::string_view text) override;
  void on_binary_message(net::Connection& connection) override;
  [[nodiscard]] bool on_peer_close(net::Connection& connection) override;
  void on_drained(net::Connection& connection) override;
  void on_closed(net::Connection& connection) override;

  // GatherListener
  void on_stored_end(Subscription& subscription, nostr::EoseHint hint) override;
  void on_query_started(Session& session) override;
  void on_count(Session& session, const std::string& count_id, std::uint64_t count) override;
  void on_out_of_time(Session& session, Subscription* subscription,
                      const std::string& count_id) override;

  // From the mesh. `connection` is null if it has gone.
  void on_decision(net::Connection* connection, const Decision& decision);
  void on_publish(ShardId from, const Publish& publish);
  void on_batch(ShardId from, const Batch& batch) { gatherer_.on_batch(from, batch); }

  // Step 6 of the turn: sends live events that are due. True if more are.
  bool send_live_events() { return live_sender_.work(); }
  [[nodiscard]] std::uint64_t next_live_ns() const { return live_sender_.next_due_ns(); }
  // Before every connection is closed.
  void send_all_live_events() { live_sender_.send_all(); }

  // Lets sessions read again that were paused for want of room in the mesh; true if there were any.
  bool resume_if_outbox_is_empty();
  // No query of these sessions is under way, so no other shard reads a request of theirs.
  [[nodiscard]] bool has_no_queries() const { return gatherer_.running_count() == 0; }
  [[nodiscard]] std::size_t session_count() const { return session_count_; }

 private:
  void on_bad_request(Session& session, const nostr::ClientMessage& message);
  void on_event(Session& session, const nostr::ClientMessage& message);
  void on_auth(Session& session, const nostr::ClientMessage& message);
  void on_req(Session& session, nostr::ClientMessage& message, std::string_view text);
  void on_count_request(Session& session, nostr::ClientMessage& message);
  void on_close_request(Session& session, std::string_view id);

  // The text lives until the next call.
  [[nodiscard]] Refusal why_not_publish(const Session& session, nostr::PackedEventView event);
  [[nodiscard]] Refusal why_not_kept(nostr::PackedEventView event, std::int64_t now_s);
  [[nodiscard]] bool is_vanish_for_us(nostr::PackedEventView event) const;
  [[nodiscard]] Refusal why_not_protected(const Session& session,
                                          nostr::PackedEventView event) const;
  [[nodiscard]] Refusal why_not_auth(const Session& session, nostr::PackedEventView event);
  [[nodiscard]] Refusal why_not_query(const Session& session,
                                      const std::vector<nostr::Filter>& filters) const;

  [[nodiscard]] std::shared_ptr<const QueryRequest> make_request(const Session& session,
                                                                 std::vector<nostr::Filter> filters,
                                                                 QueryRequest::Mode mode) const;
  [[nodiscard]] std::vector<ShardId> owners_of(const QueryRequest& request) const;
  void open_subscription(Session& session, std::string_view id,
                         std::shared_ptr<const QueryRequest> request);
  void remove_subscription(Subscription& subscription);
  void deliver(ShardId from, Subscription& subscription, const SharedBytes& event,
               bool is_ephemeral);
  void hold(Subscription& subscription, const SharedBytes& event);
  [[nodiscard]] static bool has_answers_due(const Session& session);
  static void close_if_all_is_answered(Session& session);
  [[nodiscard]] bool has_too_much_in_flight(const Session& session) const;
  void pause_if_outbox_is_full(Session& session);
  void note_interest();
  void send_live_events_of(Session& session);

  void send_ok(Session& session, std::string_view id_escaped, bool is_accepted, Refusal refusal);
  void send_closed(Session& session, std::string_view id_escaped, Refusal refusal);
  void send_notice(Session& session, Refusal refusal);

  Environment environment_;
  const Settings& settings_;
  std::string refusal_text_;
  nostr::MessageParser parser_;
  Pages pages_;
  std::vector<RelayUrl> own_urls_;
  LiveIndex live_index_;
  LiveSender live_sender_;
  Gatherer gatherer_;
  std::vector<ConnectionId> outbox_waiters_;  // Sessions paused by kOutboxFull.
  std::size_t session_count_ = 0;
  std::string scratch_;

 public:
  // Finds a connection again by its id; set by the shard once its pool exists.
  void set_pool(net::ConnectionPool& pool) { pool_ = &pool; }

 private:
  net::ConnectionPool* pool_ = nullptr;
};

}  // namespace gyre::relay

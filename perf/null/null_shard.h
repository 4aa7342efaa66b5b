// NullShard: what a relay would cost that knows nothing: gyre's loop, mesh, connections, framing
// and gathering of live events, without parsing, hashing, signatures, index and store.
//
// It looks at two kinds of messages, and at no more of them than it must to answer:
//
//     ["EVENT",{...}]           ["OK","<id>",true,""], and the event as it came to every reader
//     ["REQ","<id>",{"limit":N  N canned events and EOSE, whatever else the filter says;
//                               0: the connection is a reader from now on
//
// Everything else is ignored. Deliveries cross shards as in the relay: one message an event.
#pragma once

#include <atomic>
#include <deque>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_set.h"
#include "canned_events.h"
#include "gyre/base/shared_bytes.h"
#include "gyre/net/connection.h"
#include "gyre/runtime/mesh.h"
#include "gyre/runtime/shard.h"
#include "relay/live_sender.h"

namespace gyre::null {

class NullShard final : public runtime::ShardProgram, public net::ConnectionHandler {
 public:
  struct Environment {
    runtime::Io& io;
    runtime::MeshPort& port;
    runtime::TimerWheel& timers;
    const Clock& clock;
    const net::NetLimits& limits;
    net::AdmissionTable& admission;
    const CannedEvents& canned;
    const std::atomic<bool>& is_stopping;
  };
  explicit NullShard(const Environment& environment);
  ~NullShard() override;
  void start_listening(int listener) { pool_.start_listening(listener); }

  // runtime::ShardProgram
  void on_reply(ShardId from, const runtime::MeshSlot& slot) override;
  [[nodiscard]] bool can_take_request() override { return true; }
  void on_request(ShardId from, const runtime::MeshSlot& slot) override;
  [[nodiscard]] bool work() override;
  void flush_connections() override { pool_.flush(); }
  [[nodiscard]] std::uint64_t next_due_ns() const override { return live_sender_.next_due_ns(); }
  [[nodiscard]] bool is_finished() const override {
    return environment_.is_stopping.load(std::memory_order_acquire);
  }

  // net::ConnectionHandler
  [[nodiscard]] net::HttpResponse on_http(const net::HttpRequest& request) override;
  void on_open(net::Connection& connection) override;
  void on_message(net::Connection& connection, std::string_view text) override;
  void on_binary_message(net::Connection&) override {}
  void on_drained(net::Connection&) override {}
  void on_closed(net::Connection& connection) override;

 private:
  struct Reader;
  void on_event(net::Connection& connection, std::string_view text);
  void on_req(net::Connection& connection, std::string_view text);
  [[nodiscard]] bool try_spread(const SharedBytes& event);

  Environment environment_;
  relay::LiveSender live_sender_;
  absl::flat_hash_set<Reader*> readers_;
  std::deque<SharedBytes> unspread_;  // Events for which the mesh had no room.
  std::size_t next_canned_ = 0;
  net::ConnectionPool pool_;
};

}  // namespace gyre::null
